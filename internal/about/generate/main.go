// Command generate writes licences.json: the licence of Go and of each module that
// is built into the program. It needs the modules, as a build does.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"outrigger/internal/about"
)

func main() {
	if err := write("licences.json"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(file string) error {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", format, "outrigger/cmd/outrigger").Output()
	if err != nil {
		return fmt.Errorf("listing the modules: %w", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("finding Go: %w", err)
	}
	lines := append(strings.Split(string(out), "\n"), about.GoItself+" "+strings.TrimSpace(string(root)))
	slices.Sort(lines)
	byText := map[string]*about.Licence{}
	for _, line := range slices.Compact(lines) {
		path, dir, found := strings.Cut(line, " ")
		if !found {
			continue
		}
		texts, err := licencesIn(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text := strings.Join(texts, "\n\n")
		if byText[text] == nil {
			byText[text] = &about.Licence{Name: namesOf(texts), Text: text}
		}
		byText[text].Modules = append(byText[text].Modules, path)
	}
	var list []about.Licence
	for _, l := range byText {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b about.Licence) int { return cmp.Compare(a.Modules[0], b.Modules[0]) })
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(list); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// licencesIn reads the licences of a module, with the notices that go with them.
func licencesIn(dir string) (texts []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		begins := func(word string) bool { return strings.HasPrefix(name, word) }
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, begins) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("there is no licence in %s", dir)
	}
	return texts, nil
}

// namesOf are the names of a module's licences.
func namesOf(texts []string) string {
	var names []string
	for _, text := range texts {
		if name := nameOf(text); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return cmp.Or(strings.Join(names, " AND "), "own licence")
}

// nameOf recognises the usual licences by what only they say.
func nameOf(text string) string {
	says := func(part string) bool { return strings.Contains(strings.Join(strings.Fields(text), " "), part) }
	switch {
	case says("Apache License Version 2.0"):
		return "Apache-2.0"
	case says("Mozilla Public License Version 2.0"), says("Mozilla Public License, version 2.0"):
		return "MPL-2.0"
	case says("Permission is hereby granted, free of charge"):
		return "MIT"
	case says("Permission to use, copy, modify, and/or distribute"), says("Permission to use, copy, modify, and distribute"):
		return "ISC"
	case says("Redistribution and use in source and binary forms") && says("Neither the name"):
		return "BSD-3-Clause"
	case says("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	}
	return ""
}
