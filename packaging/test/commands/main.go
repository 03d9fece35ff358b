// Command commands prints the commands of a page of the documentation that are tried at
// a place, each on a line: commands PLACE PAGE…
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"outrigger/docs"
	"outrigger/internal/documented"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "commands:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: commands PLACE PAGE…")
	}
	for _, page := range args[1:] {
		text, err := docs.Pages.ReadFile(page + ".md")
		if err != nil {
			return err
		}
		for _, c := range documented.Commands(page, string(text)) {
			if place, _ := c.Place(); place == documented.Place(args[0]) {
				fmt.Println(strings.ReplaceAll(c.Text, "\\\n", " "))
			}
		}
	}
	return nil
}
