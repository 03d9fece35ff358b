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

// yesFlag belongs to commands that delete or replace something.
type yesFlag struct {
	Yes bool `help:"Do not ask for confirmation."`
}

// sure asks at a terminal. A command that runs in a script needs --yes.
func (f yesFlag) sure(ctx context.Context, s streams, question string) error {
	if f.Yes {
		return nil
	}
	if !s.atTerminal() {
		return usage("this command asks for confirmation; use --yes when there is no terminal")
	}
	if !s.agree(ctx, question) {
		return errors.New("nothing was done")
	}
	return nil
}

// atTerminal tells whether a person can answer a question.
func (s streams) atTerminal() bool {
	file, ok := s.in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// agree asks a question; anything but yes is no.
func (s streams) agree(ctx context.Context, question string) bool {
	fmt.Fprintf(s.err, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // the read outlives an interruption; the process does not
		line, _ := bufio.NewReader(s.in).ReadString('\n') // no line is no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return false
	case text := <-answer:
		return text == "y" || text == "yes"
	}
}
