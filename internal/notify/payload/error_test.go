package payload

import (
	"strings"
	"testing"

	"outrigger/internal/fault"
)

func TestEnd(t *testing.T) {
	for name, c := range map[string]struct{ body, reason string }{
		"an object":                   {`{"a":[1,-2.5e+3,true,false,null,"x\u00e9\n"],"b":{}}`, ""},
		"white space around":          {" \t\r\n{ } \n", ""},
		"the same member twice":       {`{"a":1,"a":2}`, ""},
		"the deepest allowed":         {strings.Repeat("[", 100) + strings.Repeat("]", 100), ""},
		"empty":                       {``, "cut off"},
		"cut off in a string":         {`{"a":"b`, "cut off"},
		"cut off in an escape":        {`{"a":"b\u00`, "cut off"},
		"cut off between":             {`{"a":1,`, "cut off"},
		"one too deep":                {strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101), "over 100 deep"},
		"very deep":                   {strings.Repeat("[", 1<<20), "over 100 deep"},
		"not UTF-8":                   {"{\"a\":\"\xff\"}", "not UTF-8 at byte 6"},
		"a second value":              {`{} {}`, "follows it at byte 2"},
		"a form":                      {`payload=%7B%7D`, "start of value at byte 0"},
		"no name":                     {`{1:2}`, "member name must be a string at byte 1"},
		"no colon":                    {`{"a" 2}`, "expecting ':'"},
		"no comma":                    {`[1 2]`, "expecting ','"},
		"a comma too many":            {`[1,]`, "start of value"},
		"a comma too many, in object": {`{"a":1,}`, "start of value"},
		"the wrong bracket":           {`[1}`, "expecting ','"},
		"a raw line feed":             {"[\"a\nb\"]", "control character"},
		"an unknown escape":           {`["\x"]`, "escape sequence"},
		"a leading zero":              {`[01]`, "expecting ','"},
		"a lone minus":                {`[-]`, "in number"},
		"a misspelt word":             {`[nul]`, "in literal null"},
	} {
		t.Run(name, func(t *testing.T) {
			r := New([]byte(c.body))
			r.Skip()
			err := r.End()
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
