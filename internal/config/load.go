package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"outrigger/internal/secret"
)

const envPrefix = "OUTRIGGER_"

// notSettings are variables with our prefix that are no settings: the shared
// material of the tests and the addresses and credentials of client commands.
var notSettings = [...]string{"OUTRIGGER_SHARED", "OUTRIGGER_SERVER", "OUTRIGGER_TOKEN", "OUTRIGGER_CONFIG"}

// fileSuffix makes the key that names a file with a secret in it.
const fileSuffix = "_file"

// Load reads the settings: the defaults, over them the YAML file at path (none
// when path is empty), over it the variables of env ("NAME=value", as
// os.Environ gives them; an empty value counts as not set), over them flags by
// key, whose empty values count as not set too. Then it reads the files that
// …_file keys name and judges the whole.
//
// The error names everything that is wrong, a line each. The warnings are
// sentences for the log.
func Load(path string, env []string, flags map[string]string) (*Config, []string, error) {
	c := Default()
	l := &loader{known: settings(c), files: map[string]secretFile{}, given: map[string]bool{}}
	if path != "" {
		l.file(path, c)
	}
	l.environment(env)
	l.flags(flags)
	l.readSecrets()
	c.Mail.usePreset(l.given)
	if l.secrets {
		l.warnings.readable(path, 0o007) // a group may be the service's
	}
	problems := append(l.problems, c.problems()...)
	return c, append(l.warnings, c.warnings()...), errors.Join(problems...)
}

type loader struct {
	known    []setting
	files    map[string]secretFile // by key of the secret
	given    map[string]bool       // keys that have a value besides their default
	problems []error
	warnings sentences
	secrets  bool // the configuration file holds one itself
}

// secretFile is a file that holds the value of a secret setting.
type secretFile struct {
	path string
	into setting
}

// problem notes what is wrong at a place: a key, or a line of the file.
func (l *loader) problem(place, format string, args ...any) {
	l.problems = append(l.problems, fmt.Errorf("%s: "+format, append([]any{place}, args...)...))
}

// environment takes the variables that are settings and warns of those that
// look like one.
func (l *loader) environment(env []string) {
	taken := map[string]bool{}
	for _, name := range notSettings {
		taken[name] = true
	}
	vars := map[string]string{}
	for _, pair := range env {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, envPrefix) && value != "" {
			vars[name] = value
		}
	}
	for _, s := range l.known {
		if name := s.env(); name != "" {
			taken[name] = true
			if s.secret() {
				taken[envName(s.key+fileSuffix)] = true
				l.secretLayer(s, vars[name], vars[envName(s.key+fileSuffix)], name)
			} else if value, ok := vars[name]; ok {
				l.text(s, value, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !taken[name] {
			l.warnings = append(l.warnings, l.unknownVariable(name))
		}
	}
}

func (l *loader) unknownVariable(name string) string {
	for _, s := range l.known {
		if s.objects() && name == envName(s.key) {
			return fmt.Sprintf("The environment variable %s is ignored: %s can be set only in the configuration file.", name, s.key)
		}
	}
	var names []string
	for _, s := range l.known {
		names = append(names, s.env())
	}
	return fmt.Sprintf("The environment variable %s is not an Outrigger setting%s", name, didYouMean(name, names))
}

// flags takes settings given on the command line, by key.
func (l *loader) flags(flags map[string]string) {
	for _, s := range l.known {
		if value := flags[s.key]; value != "" {
			l.text(s, value, s.key)
		}
	}
}

// text sets s from one string: lists by comma.
func (l *loader) text(s setting, value, place string) {
	if s.list() && !s.objects() {
		var items []string
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		s.setList(items)
		return
	}
	l.given[s.key] = true
	if err := s.set(value); err != nil {
		l.problem(place, "%w", err)
	}
}

// secretLayer takes a secret that one layer gives as a value, as a file, or
// not at all; what the layers below said of it is forgotten.
func (l *loader) secretLayer(s setting, value, path, place string) {
	switch {
	case value != "" && path != "":
		l.problem(place, "the secret is set twice, as a value and as a file; set one of them")
	case value != "":
		delete(l.files, s.key)
		l.text(s, value, place)
	case path != "":
		l.files[s.key] = secretFile{path, s}
	}
}

// readSecrets reads the files of secrets.
func (l *loader) readSecrets() {
	for _, key := range slices.Sorted(maps.Keys(l.files)) {
		f := l.files[key]
		value, err := ReadSecret(f.path)
		if err != nil {
			l.problem(key+fileSuffix, "%w", err)
			continue
		}
		l.text(f.into, value.Reveal(), key)
	}
}

// ReadSecret reads a file that holds a secret; its last line end is dropped.
func ReadSecret(path string) (secret.Value, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return secret.Value{}, fmt.Errorf("the file cannot be read: %w", err)
	}
	text, ended := strings.CutSuffix(string(content), "\n")
	if ended {
		text = strings.TrimSuffix(text, "\r")
	}
	if text == "" {
		return secret.Value{}, fmt.Errorf("the file %s is empty", path)
	}
	return secret.New(text), nil
}
