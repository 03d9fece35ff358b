package rest

import (
	"net/http"
	"strings"
	"testing"
)

func TestIfMatch(t *testing.T) {
	now := ETag(7, 2)
	for _, c := range []struct {
		given   []string
		current string
		matches bool
	}{
		{nil, now, true},
		{nil, "", true},
		{[]string{`"7-2"`}, now, true},
		{[]string{`"7-1"`}, now, false},
		{[]string{`"8-2"`}, now, false},
		{[]string{`"7-1", "7-2"`}, now, true},
		{[]string{`"7-1"`, `"7-2"`}, now, true},
		{[]string{`W/"7-2"`}, now, false},
		{[]string{"7-2"}, now, false},
		{[]string{""}, now, false},
		{[]string{"*"}, now, true},
		{[]string{"*"}, "", false},
		{[]string{`"7-2"`}, "", false},
	} {
		err := matchOf(&http.Request{Header: http.Header{"If-Match": c.given}}).Check(c.current, "ada saved version 2")
		if (err == nil) != c.matches {
			t.Errorf("%q of %s: %v", c.given, c.current, err)
		}
		if err != nil && (c.current != "") != strings.Contains(err.Error(), "ada saved version 2") {
			t.Errorf("%q of %q says %v", c.given, c.current, err)
		}
	}
}
