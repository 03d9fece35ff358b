package config

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestPrint(t *testing.T) {
	var yaml, json bytes.Buffer
	if err := Print(&yaml); err != nil {
		t.Fatal(err)
	}
	if err := PrintJSON(&json); err != nil {
		t.Fatal(err)
	}
	golden(t, "print.golden.yaml", yaml.Bytes())
	golden(t, "print.golden.json", json.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// What `config print` writes is itself a configuration file, and changes
// nothing.
func TestPrintIsTheDefaultFile(t *testing.T) {
	var out bytes.Buffer
	if err := Print(&out); err != nil {
		t.Fatal(err)
	}
	c, warnings, err := Load(write(t, "c.yaml", out.String()), nil, nil)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("%v %v", warnings, err)
	}
	c.TrustedProxies, c.Notify.AllowedNetworks, c.Notify.Connections, c.Mail.Nodes = nil, nil, nil, nil // empty lists
	if diff := cmp.Diff(Default(), c, exportedSecret); diff != "" {
		t.Error(diff)
	}
}

// Every setting has a sentence, every sentence a setting.
func TestWords(t *testing.T) {
	var check func(reflect.Value, string)
	check = func(v reflect.Value, prefix string) {
		var words map[string]string
		if of, ok := v.Interface().(documented); ok {
			words = of.words()
		}
		for _, s := range members(v, prefix) {
			if s.objects() {
				check(reflect.New(s.field.Type().Elem()).Elem(), s.key+".")
			}
			if s.group() {
				check(s.field, s.key+".")
			} else if !strings.HasSuffix(s.doc, ".") {
				t.Errorf("%s has no sentence", s.key)
			}
			delete(words, s.name)
		}
		for key := range words {
			t.Errorf("%s%s is in the words, but no setting", prefix, key)
		}
	}
	check(reflect.ValueOf(Default()).Elem(), "")
}

// No two settings share an environment variable.
func TestTags(t *testing.T) {
	taken := map[string]string{}
	for _, s := range settings(Default()) {
		if s.def == "" && s.elseDoc == "" && !s.objects() {
			t.Errorf("%s does not say what holds without it", s.key)
		}
		var names []string
		if !s.objects() {
			names = append(names, s.env())
		}
		if s.secret() {
			names = append(names, envName(s.key+fileSuffix))
		}
		for _, name := range names {
			if other, ok := taken[name]; ok {
				t.Errorf("%s and %s share %s", s.key, other, name)
			}
			taken[name] = s.key
		}
	}
}
