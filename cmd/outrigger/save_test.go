package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestSaveWhole(t *testing.T) {
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := func(file string) func(string) error {
		return func(part string) error { return os.Link(part, file) }
	}
	cut := io.MultiReader(strings.NewReader("some"), iotest.ErrReader(io.ErrUnexpectedEOF))
	for _, c := range []struct {
		name, file string
		from       io.Reader
		want       string // the error, after the file's name
	}{
		{"no such folder", filepath.Join(t.TempDir(), "none", "file"), strings.NewReader("new"), " was not written: no such file or directory"},
		{"a file that came meanwhile", there, strings.NewReader("new"), " was not written: file exists"},
		{"cut off", filepath.Join(t.TempDir(), "file"), cut, " was not written: unexpected EOF"},
		{"whole", filepath.Join(t.TempDir(), "file"), strings.NewReader("new"), ""},
	} {
		size, err := saveWhole(c.file, c.from, linked(c.file))
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), c.file)
		}
		if got != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
		text, err := os.ReadFile(c.file)
		switch {
		case c.want == "" && (size != 3 || string(text) != "new"):
			t.Errorf("%s: %d bytes, %q", c.name, size, text)
		case c.file == there && string(text) != "old":
			t.Errorf("%s: it was replaced by %q", c.name, text)
		case c.want != "" && c.file != there && !errors.Is(err, os.ErrNotExist):
			t.Errorf("%s: a file of %q, %v", c.name, text, err)
		}
		if left, _ := filepath.Glob(c.file + "*.part"); len(left) > 0 {
			t.Errorf("%s: left %v", c.name, left)
		}
	}
}
