package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// yesFlag belongs to commands that delete or replace something, or act on many things.
type yesFlag struct {
	Yes bool `help:"Do not ask for confirmation."`
}

// sure asks for confirmation at a terminal. A command that runs in a script needs --yes.
func (f yesFlag) sure(ctx context.Context, s streams, question string) error {
	if err := f.needed(s); err != nil || f.Yes {
		return err
	}
	if !s.agree(ctx, question) {
		return errors.New("nothing was done")
	}
	return nil
}

// sureOfMany is sure for n things, and does not ask about a single one; question has a %d
// for the number.
func (f yesFlag) sureOfMany(ctx context.Context, s streams, question string, n int64) error {
	if n <= 1 {
		return nil
	}
	return f.sure(ctx, s, fmt.Sprintf(question, n))
}

// needed returns a usage error if --yes is missing and there is no terminal to ask at.
func (f yesFlag) needed(s streams) error {
	if f.Yes || s.atTerminal() {
		return nil
	}
	return usage("this command asks for confirmation; use --yes when there is no terminal")
}

// atTerminal reports whether a person can answer a question.
func (s streams) atTerminal() bool {
	file, ok := s.in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// agree asks a question and reports whether the answer is yes.
func (s streams) agree(ctx context.Context, question string) bool {
	text, ok := s.ask(ctx, question+" [y/N] ")
	return ok && (text == "y" || text == "yes")
}

// agreeUnlessNo asks a question and reports whether the answer is anything but no. It
// returns an error if nobody answered: then nothing may be done.
func (s streams) agreeUnlessNo(ctx context.Context, question string) (bool, error) {
	text, ok := s.ask(ctx, question+" [Y/n] ")
	if !ok {
		return false, errors.New("nothing was done")
	}
	return text != "n" && text != "no", nil
}

// ask returns the line that answers a question, in lower case; ok is false if there is
// none.
func (s streams) ask(ctx context.Context, question string) (line string, ok bool) {
	fmt.Fprint(s.err, question)
	answer := make(chan string, 1)
	go func() { // the read outlives an interruption; the process does not
		defer close(answer)
		if line, err := bufio.NewReader(s.in).ReadString('\n'); err == nil || line != "" {
			answer <- strings.ToLower(strings.TrimSpace(line))
		}
	}()
	select {
	case <-ctx.Done():
		return "", false
	case line, ok = <-answer:
		return line, ok
	}
}
