// Package about knows what the program is made of: the modules that are built into
// it, and their licences, which ask to be passed on with it.
package about

//go:generate go run ./generate

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// licences are written by generate from the modules themselves.
//
//go:embed licences.json
var licences []byte

// GoItself is the name under which the Go standard library and runtime, which are
// part of every Go program, stand among the modules.
const GoItself = "Go"

// Licence is a text that modules are published under.
type Licence struct {
	Name    string   `json:"name"` // as SPDX has it
	Modules []string `json:"modules"`
	Text    string   `json:"text"`
}

// Module is a part of the program that others wrote.
type Module struct{ Path, Version, Licence string }

// Licences lists the licences of everything inside.
func Licences() ([]Licence, error) {
	var list []Licence
	if err := json.Unmarshal(licences, &list); err != nil {
		return nil, fmt.Errorf("reading licences.json: %w", err)
	}
	return list, nil
}

// Modules lists what is inside, with the versions that the running program was
// built with; "" where the build did not note them.
func Modules() ([]Module, error) {
	list, err := Licences()
	if err != nil {
		return nil, err
	}
	versions := map[string]string{GoItself: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	var all []Module
	for _, l := range list {
		for _, path := range l.Modules {
			all = append(all, Module{path, versions[path], l.Name})
		}
	}
	return all, nil
}
