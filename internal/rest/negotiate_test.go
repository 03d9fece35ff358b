package rest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestNegotiate(t *testing.T) {
	const none = "none"
	for _, c := range []struct {
		accept string
		both   string // of JSON and XML
		only   string // of JSON alone
	}{
		{"*/*", "json", "json"},
		{"", "json", "json"},
		{"*", "json", "json"},
		{"application/json", "json", "json"},
		{"application/xml", "xml", none},
		{"APPLICATION/XML", "xml", none},
		{"Application/Json ; Q=1", "json", "json"},
		{"application/*", "json", "json"},
		{"text/html", none, none},
		{"text/xml", none, none},
		{"text/*", none, none},
		{"*/json", "json", "json"}, // no media range, so there is none
		{"application/hal+json", none, none},

		// weights
		{"application/json;q=0.5, application/xml;q=0.9", "xml", "json"},
		{"application/json;q=0.9, application/xml;q=0.5", "json", "json"},
		{"application/json;q=0.123, application/xml;q=0.124", "xml", "json"},
		{"application/json;q=0, */*", "xml", none},
		{"application/json;q=0.000, */*;q=0.001", "xml", none},
		{"application/json;q=0", none, none},
		{"application/xml;q=0, */*;q=0.1", "json", "json"},
		{"*/*;q=0", none, none},
		{"application/*;q=0, */*", none, none},
		{"application/json;q=1.0, application/xml;q=1.000", "json", "json"},
		{"application/json;q=.2, application/xml;q=.3", "xml", "json"},
		{"application/json; q=0.8 , application/xml ; q=0.9", "xml", "json"},
		{"application/json;q=0.5, application/xml;q=7", "xml", "json"},
		{"application/json;q=0.1239, application/xml;q=0.123", "json", "json"},
		{"application/json;q=high, application/xml;q=0.1", "xml", none},
		{"application/json;q=-1, application/xml;q=0.1", "xml", none},
		{"application/json;q=, application/xml;q=0.1", "xml", none},
		{"application/json;q=0.5.5, application/xml;q=0.1", "xml", none},

		// specificity: a range says nothing about what a narrower one names
		{"*/*, application/json;q=0.1", "xml", "json"},
		{"application/*;q=0.2, */*;q=0.9", "json", "json"},
		{"application/*;q=0.2, application/xml;q=0.1, */*;q=0.9", "json", "json"},
		{"application/xml, */*", "xml", "json"},
		{"*/*, application/xml", "xml", "json"},
		{"application/xml, application/*", "xml", "json"},

		// equals: what was named first, then what we name first
		{"application/xml, application/json", "xml", "json"},
		{"application/json, application/xml", "json", "json"},
		{"application/xml;q=0.5, application/json;q=0.5", "xml", "json"},
		{"text/html, application/*;q=0.5", "json", "json"},

		// parameters
		{"application/json;charset=utf-8", "json", "json"},
		{`application/xml;charset="UTF-8"`, "xml", none},
		{"application/json;odata=verbose", "json", "json"},
		{"application/json;level=1;q=0.1, application/json;q=0.9, application/xml;q=0.5", "json", "json"},
		{"application/json;level=1, application/json;q=0.1, application/xml;q=0.5", "xml", "json"},
		{`application/json;profile="a,b;q=0", application/xml;q=0.5`, "json", "json"},
		{`application/json;profile="a\",b", application/xml;q=0.5`, "json", "json"},
		{"application/json;;q=0.5;, application/xml;q=0.6", "xml", "json"},

		// what clients send
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "xml", "json"},
		{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "json", "json"},
		{"application/json, text/plain, */*", "json", "json"},
		{"application/json, text/javascript, */*; q=0.01", "json", "json"},
		{"image/avif,image/webp,*/*;q=0.8", "json", "json"},

		// without a meaning
		{",,,", "json", "json"},
		{";;;", "json", "json"},
		{"/", "json", "json"},
		{"application/", "json", "json"},
		{"application", "json", "json"},
		{"application/xml,,;,", "xml", none},
		{`"`, "json", "json"},
		{`application/xml;a="`, "xml", none},
		{`application/xml;a="\`, "xml", none},
	} {
		h := http.Header{"Accept": {c.accept}}
		check := func(offered []format, want string) {
			t.Helper()
			got := none
			if f, ok := negotiate(h, offered); ok {
				got = f.name()
			}
			if got != want {
				t.Errorf("Accept: %s of %v gives %s, want %s", c.accept, offered, got, want)
			}
		}
		check(jsonOrXML, c.both)
		check(onlyJSON, c.only)
	}
}

func TestNegotiateWithoutHeader(t *testing.T) {
	if f, ok := negotiate(http.Header{}, jsonOrXML); f != asJSON || !ok {
		t.Errorf("no Accept gives %v, %v", f, ok)
	}
}

func TestNegotiateSeveralHeaders(t *testing.T) {
	h := http.Header{"Accept": {"text/html", "application/xml;q=0.5", "application/json;q=0.4"}}
	if f, ok := negotiate(h, jsonOrXML); f != asXML || !ok {
		t.Errorf("three headers give %v, %v", f, ok)
	}
}

func FuzzNegotiate(f *testing.F) {
	for _, seed := range []string{
		"*/*", "application/json;q=0.5, application/xml;q=0.9", `a/b;c="d,e\"";q=0`, "*; q=.2", "application/*;q=1.0009", ";,\"\\",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		h := http.Header{"Accept": {accept}}
		got, ok := negotiate(h, jsonOrXML)
		if ok && !slices.Contains(jsonOrXML, got) {
			t.Fatalf("chose %v, which is not offered", got)
		}
		for _, r := range parseAccept(accept) {
			if r.q < 0 || r.q > 1000 || strings.Count(r.name, "/") < 1 {
				t.Fatalf("read the range %+v", r)
			}
		}
		// A client that accepts one of two accepts something of both.
		for _, one := range jsonOrXML {
			if _, any := negotiate(h, []format{one}); any && !ok {
				t.Fatalf("%v is acceptable, but nothing of it and another", one)
			}
		}
		// What a client excludes in so many words it does not get.
		if strings.Count(accept, `"`) == 0 && !strings.Contains(strings.ToLower(accept), "json") {
			if f, ok := negotiate(http.Header{"Accept": {accept + ",application/json;q=0"}}, jsonOrXML); ok && f == asJSON {
				t.Fatal("chose what was excluded")
			}
		}
	})
}
