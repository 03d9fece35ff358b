package payload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"outrigger/internal/fault"
)

func TestReaderTakesWhatItFinds(t *testing.T) {
	r := New([]byte(` { "skipped" : {"a":[1,{"b":"}\""}]} , "id":7, "list":[1,"x",null,{"n":2}], "wrong":{"a":1}, "id":"8", "last":true } `))
	var id, wrong int64
	var list []string
	var last bool
	for name := range r.Object {
		switch string(name) {
		case "id":
			id = r.Int()
		case "list":
			for range r.Array {
				list = append(list, r.Text())
			}
		case "wrong":
			wrong = r.Int()
		case "last":
			last = r.Bool()
		}
	}
	if id != 8 || wrong != 0 || !last || strings.Join(list, ",") != "1,x,," || (r.err != nil) {
		t.Fatalf("id %d, wrong %d, last %v, list %q, broken %v", id, wrong, last, list, (r.err != nil))
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		`"plain"`:              "plain",
		`"a\"b\\"`:             `a"b\`,
		`"caf\u00e9 \u0041\n"`: "café A\n",
		`"\ud83d\ude00"`:       "😀",
		`"half \ud83d"`:        "half \uFFFD",
		`"zero\u0000"`:         "zero\uFFFD",
		`1.50`:                 "1.50",
		`null`:                 "",
		`true`:                 "",
		`{"a":1}`:              "",
		`["a"]`:                "",
	} {
		r := New([]byte(in))
		if got := r.Text(); got != want || (r.err != nil) || r.Kind() != 0 {
			t.Errorf("%s reads as %q, broken %v, then %q", in, got, (r.err != nil), r.Kind())
		}
	}
}

func TestTime(t *testing.T) {
	at := time.Date(2026, 8, 19, 17, 27, 55, 266e6, time.UTC)
	second := at.Truncate(time.Second)
	for in, want := range map[string]time.Time{
		`1787160475266`:                      at,
		`"1787160475266"`:                    at,
		`1.787160475266e12`:                  at,
		`"2026-08-19T17:27:55.266Z"`:         at,
		`"2026-08-19T17:27:55.266000+00:00"`: at,
		`"2026-08-19T19:27:55+02:00"`:        second,
		`"2026-08-19T19:27:55+0200"`:         second,
		`"2026-08-19T10:27:55-0700"`:         second,
		`"2026-08-19T17:27:55"`:              second,
		`"yesterday"`:                        {},
		`"2026-13-19T17:27:55Z"`:             {},
		`"9999-12-31T23:59:59-2300"`:         {}, // in UTC it is the year 10000
		`99999999999999999`:                  {},
		`1e300`:                              {},
		`null`:                               {},
		`{}`:                                 {},
	} {
		r := New([]byte(in))
		if got := r.Time(); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%s reads as %s, want %s", in, got, want)
		}
	}
}

// FuzzReader reads anything without harm, and JSON as encoding/json does.
func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":{"b":[1,"x\u0000",null]},"c":false}`, `{"a":1,"a":[2]}`, `{"\u0061":"\ud83d"}`, `[[1],{"x":{}}]`, `{"a":"\`, "{\"a\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := New(body)
		got := tree(t, r, 0)
		err := r.End()
		if right := utf8.Valid(body) && json.Valid(body) && depth(body) <= maxDepth; (err == nil) != right {
			t.Fatalf("the Reader says %v, encoding/json says %v of %q", err, right, body)
		}
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("not an invalid fault: %v", err)
			}
			return
		}
		var want any
		if err := json.Unmarshal(body, &want); err != nil {
			return // a number out of range
		}
		if strings.ContainsRune(flat(t, got), 0) {
			t.Fatalf("%q reads with U+0000", body)
		}
		if g, w := flat(t, got), flat(t, want); g != w {
			t.Fatalf("%q reads as %s, want %s", body, g, w)
		}
	})
}

// tree reads any value as encoding/json would, but with numbers and other
// words as text.
func tree(t *testing.T, r *Reader, depth int) any {
	if depth > maxDepth {
		r.Skip()
		return nil
	}
	switch r.Kind() {
	case '{':
		m := map[string]any{}
		for name := range r.Object {
			m[strings.ReplaceAll(string(name), "\x00", "\uFFFD")] = tree(t, r, depth+1)
		}
		return m
	case '[':
		a := []any{}
		for range r.Array {
			a = append(a, tree(t, r, depth+1))
		}
		return a
	case 't', 'f':
		return r.Bool()
	case 'n':
		r.Skip()
		return nil
	case '0':
		return json.Number(r.Text())
	}
	s := r.Text()
	if !utf8.ValidString(s) {
		t.Fatalf("%q is not UTF-8", s)
	}
	return s
}

// flat writes a tree with every number as the float it is.
func flat(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(b), `\u0000`, "\uFFFD")), &again); err != nil {
		t.Fatal(err)
	}
	b, _ = json.Marshal(again)
	return string(b)
}

func BenchmarkReader(b *testing.B) {
	member := `{"slug":"engine","id":4,"name":"engine","scmId":"git","state":"AVAILABLE","forkable":true,"links":{"self":[{"href":"https://git.example.com/projects/ATL/repos/engine/browse"}]}},`
	body := []byte("[" + strings.Repeat(member, 5000/len(member)) + "null]")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r := New(body)
		for range r.Array {
			for name := range r.Object {
				switch string(name) {
				case "slug", "name":
					r.Text()
				case "id":
					r.Int()
				}
			}
		}
	}
}

// What is read keeps its own memory: another body in the place of the first one,
// read by the same Reader, changes nothing of it, however many texts there are.
func TestTextsOutliveTheBody(t *testing.T) {
	body := make([]byte, 0, 1<<10)
	var got, want []string
	for i := range 3000 {
		word := fmt.Sprintf("text %d of %s", i%1000, strings.Repeat("ä", i%200))
		body = fmt.Appendf(body[:0], `[%q,"  %s\nsecond","%s"]`, word, word, word)
		r := New(body)
		for range r.Array {
			switch len(got) % 3 {
			case 0:
				got = append(got, r.Text())
			case 1:
				got = append(got, r.FirstLine())
			case 2:
				got = append(got, r.Short())
			}
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		r.Release()
		want = append(want, word, word, word)
	}
	if !slices.Equal(got, want) {
		t.Error("texts are not what they were when they were read")
	}
}
