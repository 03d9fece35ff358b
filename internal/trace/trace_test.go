package trace

import (
	"net/http"
	"strings"
	"testing"
)

const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

func TestFrom(t *testing.T) {
	for header, want := range map[string]string{
		"00-" + id + "-" + parent + "-01":                      id,
		"00-" + id + "-" + parent + "-00":                      id,
		"cc-" + id + "-" + parent + "-01":                      id,
		"cc-" + id + "-" + parent + "-01-what-comes":           id,
		"00-" + id + "-" + parent + "-01-more":                 "",
		"cc-" + id + "-" + parent + "-01-":                     "",
		"ff-" + id + "-" + parent + "-01":                      "",
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-01": "",
		"00-" + id + "-0000000000000000-01":                    "",
		"00-" + strings.ToUpper(id) + "-" + parent + "-01":     "",
		"00-" + id[1:] + "-" + parent + "-01":                  "",
		"00-" + id + "-" + parent:                              "",
		"00-" + id + "-" + parent + "-1":                       "",
		"00-" + id + "-" + parent + "-01\nlevel=ERROR":         "",
		"": "", "-": "", "00": "", "no trace at all, and long": "",
	} {
		if got := From(http.Header{Header: {header}}); got.ID != want {
			t.Errorf("%q: %q, want %q", header, got.ID, want)
		}
	}
	one := "00-" + id + "-" + parent + "-01"
	if From(http.Header{Header: {one, one}}).ID != "" {
		t.Error("two headers are taken")
	}
}

// What is asked for a request has its trace and whether it is recorded, and a parent
// of its own.
func TestNext(t *testing.T) {
	for _, flags := range []string{"00", "01"} {
		tr := From(http.Header{Header: {"00-" + id + "-" + parent + "-" + flags}})
		first, second := tr.Next(), tr.Next()
		if first == second || strings.Contains(first, parent) {
			t.Errorf("%s, then %s", first, second)
		}
		if got := From(http.Header{Header: {first}}); got != tr {
			t.Errorf("%s is of %+v, not %+v", first, got, tr)
		}
	}
	if got := (Trace{}).Next(); got != "" {
		t.Errorf("without a trace: %q", got)
	}
}
