package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"outrigger/internal/phrase"
)

// isTerminal reports whether people read what is written to out.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalText writes the lines of a text that others made, without what a terminal
// would obey. A character that the end of the text cuts is left out.
type terminalText struct {
	out io.Writer
	cut []byte // the beginning of a character whose end has not come
}

func (w *terminalText) Write(p []byte) (int, error) {
	text := append(w.cut, p...)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				end -= i
			}
			break
		}
	}
	w.cut = bytes.Clone(text[end:])
	lines := strings.Split(strings.ReplaceAll(strings.ToValidUTF8(string(text[:end]), "\uFFFD"), "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = phrase.Line(lines[i])
	}
	if _, err := io.WriteString(w.out, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(p), nil
}
