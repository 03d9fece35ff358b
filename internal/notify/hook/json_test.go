package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"outrigger/internal/fault"
)

func TestCheckBody(t *testing.T) {
	for name, c := range map[string]struct{ body, reason string }{
		"an object":                   {`{"a":[1,-2.5e+3,true,false,null,"x\u00e9\n"],"b":{}}`, ""},
		"white space around":          {" \t\r\n{ } \n", ""},
		"the same member twice":       {`{"a":1,"a":2}`, ""},
		"the deepest allowed":         {strings.Repeat("[", 100) + strings.Repeat("]", 100), ""},
		"empty":                       {``, "cut off"},
		"cut off in a string":         {`{"a":"b`, "cut off"},
		"cut off in an escape":        {`{"a":"b\u00`, "escape"},
		"cut off between":             {`{"a":1,`, "cut off"},
		"one too deep":                {strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101), "over 100 deep"},
		"very deep":                   {strings.Repeat("[", 1<<20), "over 100 deep"},
		"not UTF-8":                   {"{\"a\":\"\xff\"}", "not UTF-8 at byte 6"},
		"a second value":              {`{} {}`, "follows it at byte 3"},
		"a form":                      {`payload=%7B%7D`, "no value at byte 0"},
		"no name":                     {`{1:2}`, "no member name"},
		"no colon":                    {`{"a" 2}`, "no colon"},
		"no comma":                    {`[1 2]`, "no comma"},
		"a comma too many":            {`[1,]`, "no value"},
		"a comma too many, in object": {`{"a":1,}`, "no member name"},
		"the wrong bracket":           {`[1}`, "no comma"},
		"a raw line feed":             {"[\"a\nb\"]", "control character"},
		"an unknown escape":           {`["\x"]`, "unknown escape"},
		"a leading zero":              {`[01]`, "no comma"},
		"a lone minus":                {`[-]`, "malformed number"},
		"a misspelt word":             {`[nul]`, "no value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := CheckBody([]byte(c.body))
			if c.reason == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.reason) {
				t.Fatalf("got %v, want an invalid fault that says %q", err, c.reason)
			}
		})
	}
}

func FuzzCheckBody(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e+3,true,"x\u00e9"],"b":{}}`, `[0.1e-9,"\ud83d\ude00"]`, ` null `, "{\"\xff\":0}", `[[[`, `"`, `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := CheckBody(body)
		want := utf8.Valid(body) && json.Valid(body) && depth(body) <= MaxDepth
		if (err == nil) != want {
			t.Fatalf("CheckBody says %v, encoding/json says %v of %q", err, want, body)
		}
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Fatalf("not an invalid fault: %v", err)
		}
	})
}

// depth is how deep valid JSON is nested.
func depth(body []byte) int {
	d, deepest, quoted := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			d++
			deepest = max(deepest, d)
		case b == '}' || b == ']':
			d--
		}
	}
	return deepest
}

func BenchmarkCheckBody(b *testing.B) {
	member := `{"slug":"engine","id":4,"name":"engine","scmId":"git","state":"AVAILABLE","forkable":true,"links":{"self":[{"href":"https://git.example.com/projects/ATL/repos/engine/browse"}]}},`
	body := []byte("[" + strings.Repeat(member, 5000/len(member)) + "null]")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := CheckBody(body); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCheckBodyGivesTheEventKey(t *testing.T) {
	for body, want := range map[string]string{
		`{"eventKey":"pr:opened","a":1}`:            `"pr:opened"`,
		`{"a":{"eventKey":"x"}, "eventKey" : "b" }`: `"b"`,
		`{"a":{"eventKey":"x"}}`:                    ``,
		`[{"eventKey":"x"}]`:                        ``,
		`{"eventKey":7}`:                            ``,
		`{"eventKey":null,"b":"c"}`:                 ``,
		`{"eventKey":{"b":"c"}}`:                    ``,
		`{"eventKey":"first","eventKey":"last"}`:    `"last"`,
		`{"eventKeys":"x","a":"eventKey","b":"y"}`:  ``,
	} {
		if got, err := CheckBody([]byte(body)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
}
