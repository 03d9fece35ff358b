// Package commandline tells shells and manuals what the command line takes, from
// its kong model: completion in bash, zsh and fish, and the manual page.
package commandline

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Candidate is what a word can be completed to.
type Candidate struct{ Value, Help string }

// Completion is what the last word of a command line can become: one of the
// candidates, or the name of a file.
type Completion struct {
	Candidates []Candidate
	Files      bool
}

// complete completes the last of the words behind the program's name; it is ""
// where a new word begins.
func complete(model *kong.Application, words []string) Completion {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	at := walk(model.Node, words[:len(words)-1])
	if at.awaits != nil {
		return ofValue(at.awaits.Value, "", last)
	}
	if name, value, assigned := strings.Cut(last, "="); assigned && !at.plain {
		if flag := at.flag(name); flag != nil {
			return ofValue(flag.Value, name+"=", value)
		}
	}
	if strings.HasPrefix(last, "-") && !at.plain {
		return at.flags(last)
	}
	return at.next(last)
}

// place is where a command line has come to.
type place struct {
	node   *kong.Node
	args   int        // positional arguments of node so far
	awaits *kong.Flag // the flag whose value is the next word
	plain  bool       // after --: no more flags
}

func walk(node *kong.Node, words []string) place {
	at := place{node: node}
	for _, word := range words {
		switch {
		case at.awaits != nil:
			at.awaits = nil
		case at.plain:
			at.args++
		case word == "--":
			at.plain = true
		case strings.HasPrefix(word, "-") && word != "-":
			if flag := at.flag(word); flag != nil && !flag.IsBool() && !flag.IsCounter() {
				at.awaits = flag
			}
		default:
			at.take(word)
		}
	}
	return at
}

// take goes on by a word that is no flag: a command, or an argument.
func (at *place) take(word string) {
	for _, child := range at.node.Children {
		if child.Name == word || slices.Contains(child.Aliases, word) {
			at.node, at.args = child, 0
			return
		}
	}
	if at.node.DefaultCmd != nil {
		at.node, at.args = at.node.DefaultCmd, 0
	}
	at.args++
}

// leaf is the command, or the one that is meant where none is named.
func (at place) leaf() *kong.Node {
	if at.node.DefaultCmd != nil {
		return at.node.DefaultCmd
	}
	return at.node
}

// flag finds a flag by how it is written, "--config" or "-h".
func (at place) flag(word string) *kong.Flag {
	for _, group := range at.leaf().AllFlags(true) {
		for _, flag := range group {
			if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
				return flag
			}
		}
	}
	return nil
}

func (at place) flags(prefix string) (c Completion) {
	for _, group := range at.leaf().AllFlags(true) {
		for _, flag := range group {
			c.add("--"+flag.Name, flag.Help, prefix)
		}
	}
	return c
}

// next completes a command, or an argument.
func (at place) next(prefix string) (c Completion) {
	if !at.plain && at.args == 0 {
		for _, child := range at.node.Children {
			if !child.Hidden {
				c.add(child.Name, child.Help, prefix)
			}
		}
	}
	node := at.leaf()
	if n := len(node.Positional); n > 0 && (at.args < n || node.Positional[n-1].IsSlice()) {
		of := ofValue(node.Positional[min(at.args, n-1)], "", prefix)
		c.Candidates, c.Files = append(c.Candidates, of.Candidates...), of.Files
	}
	return c
}

// ofValue completes the value of a flag or an argument, put behind before.
func ofValue(v *kong.Value, before, prefix string) (c Completion) {
	if v.Enum != "" {
		for _, value := range v.EnumSlice() {
			if value != "" {
				c.add(before+value, "", before+prefix)
			}
		}
		return c
	}
	named := strings.ToLower(v.Name + " " + v.Tag.PlaceHolder)
	c.Files = strings.Contains(named, "file") || strings.Contains(named, "dir") || strings.Contains(named, "folder")
	return c
}

func (c *Completion) add(value, help, prefix string) {
	if strings.HasPrefix(value, prefix) {
		c.Candidates = append(c.Candidates, Candidate{value, help})
	}
}
