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
	file, ok := s.in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return usage("this command asks for confirmation; use --yes when there is no terminal")
	}
	fmt.Fprintf(s.err, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // the read outlives an interruption; the process does not
		line, _ := bufio.NewReader(s.in).ReadString('\n') // no line is no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
	case text := <-answer:
		if text == "y" || text == "yes" {
			return nil
		}
	}
	return errors.New("nothing was done")
}
