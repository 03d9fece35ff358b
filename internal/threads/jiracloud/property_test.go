package jiracloud

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"outrigger/internal/threads"
)

// many returns a map of n relations whose ids have ten digits: 28 bytes each.
func many(n int) threads.ParentMap {
	m := make(threads.ParentMap, n)
	for i := range m {
		m[i] = threads.Relation{CommentID: 2_000_000_000 + int64(i), ParentID: 1_000_000_000 + int64(i)}
	}
	return m
}

// rejoin makes a map of a head and parts as a reader does, from their values.
func rejoin(t rapid.TB, h *head, parts []part) threads.ParentMap {
	text := h.encode()
	back, err := decodeHead(text)
	if err != nil || !slices.Equal(back.encode(), text) || len(text) > maxValue {
		t.Fatalf("the head %s: %v", text, err)
	}
	if len(parts) == 0 {
		return back.Parents
	}
	var m threads.ParentMap
	for i, p := range parts {
		text := p.encode()
		back, err := decodePart(text)
		if err != nil || !cmp.Equal(back, p) || len(text) > maxValue || p.Part != h.First+i || p.Generation != h.Generation {
			t.Fatalf("part %d of %d bytes: %v", p.Part, len(text), err)
		}
		m = append(m, back.Parents...)
	}
	if len(parts) != h.Parts || len(m) != h.Relations || sum(m) != h.SHA256 {
		t.Fatalf("the head is %s", text)
	}
	return m
}

// What has exactly room in a property is in one; a relation more, in two parts.
func TestWhatHasRoom(t *testing.T) {
	around := len(`{"v":1,"generation":1,"parents":{}}`)
	most := (maxValue - around + 1) / len(`"2000000000":"1000000000",`)
	filled := many(most)
	room := maxValue - around + 1 - most*len(`"2000000000":"1000000000",`)
	filled[0].ParentID = 1_000_000_000
	for range room { // longer ids take what is left
		filled[0].ParentID *= 10
	}
	h, parts, err := compose(nil, filled)
	if err != nil || len(parts) != 0 || len(h.encode()) != maxValue {
		t.Fatalf("%d parts beside a head of %d bytes, %v; %d bytes were left", len(parts), len(h.encode()), err, room)
	}
	filled[0].ParentID *= 10
	h, parts, err = compose(nil, filled)
	if err != nil || len(parts) != 2 || !slices.Equal(rejoin(t, h, parts), filled) {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
}

func TestNoRoom(t *testing.T) {
	m := make(threads.ParentMap, 40_000)
	for i := range m {
		m[i] = threads.Relation{CommentID: math.MinInt64 + int64(i), ParentID: math.MinInt64}
	}
	h, parts, err := compose(nil, m)
	if err != nil || len(parts) > maxParts || !slices.Equal(rejoin(t, h, parts), m) {
		t.Errorf("40,000 of the longest ids: %v", err)
	}
	if _, _, err := compose(nil, many(100_000)); err == nil || err.Error() != "100000 relations need 80 properties; there may be 64" {
		t.Errorf("100,000 relations: %v", err)
	}
}

// However often a map grows and shrinks, what is written never has the numbers
// of what is there, and the numbers stay small.
func TestPartsStandBesideTheOldOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var old *head
		for range rapid.IntRange(1, 3).Draw(t, "writes") {
			m := many(rapid.SampledFrom([]int{1, 800, 1500}).Draw(t, "relations"))
			for i := range m { // 44 bytes each
				m[i].CommentID *= 1_000_000_000
				m[i].ParentID *= 1_000_000_000
			}
			h, parts, err := compose(old, m)
			if err != nil || !slices.Equal(rejoin(t, h, parts), m) {
				t.Fatal("composed wrongly:", err)
			}
			for _, p := range parts {
				if old.has(p.Part) || p.Part > 3*4 {
					t.Fatalf("part %d is written beside %d to %d", p.Part, old.First, old.First+old.Parts-1)
				}
			}
			if old != nil && h.Generation != old.Generation+1 {
				t.Fatal("generation", h.Generation, "follows", old.Generation)
			}
			old = h
		}
	})
}

func TestDecode(t *testing.T) {
	digest := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		`{"v":1,"generation":1,"parents":{}}`:                                                             "",
		"{ \"parents\" : {\"2\": \"1\",\n\"1\": 0}, \"generation\": 7, \"v\": 1 }":                        "",
		`{"v":1,"generation":1,"first":3,"parts":2,"relations":9,"sha256":"` + digest + `"}`:              "",
		`{"v":2,"generation":1,"parents":{},"more":true}`:                                                 "a later release of Outrigger has written it, in version 2; this one knows 1",
		`{"v":1,"generation":1,"parents":{},"more":true}`:                                                 errLayout.Error(),
		`{"v":1,"generation":1,"parents":{"a":"1"}}`:                                                      "its parents are no map of comment ids",
		`{"v":1,"generation":1,"parents":{"1":"99999999999999999999"}}`:                                   "its parents are no map of comment ids",
		`{"v":1,"generation":1,"parents":{"1":"2","1":"3"}}`:                                              errLayout.Error(),
		`{"v":1,"generation":1,"parents":null}`:                                                           errLayout.Error(),
		`{"v":1,"generation":1,"parents":[]}`:                                                             errLayout.Error(),
		`{"v":1,"generation":0,"parents":{}}`:                                                             errLayout.Error(),
		`{"v":1,"generation":1}`:                                                                          errLayout.Error(),
		`{"v":1,"generation":1,"parents":{},"first":1,"parts":1,"relations":1,"sha256":"` + digest + `"}`: errLayout.Error(),
		`{"v":1,"generation":1,"first":1,"parts":65,"relations":9,"sha256":"` + digest + `"}`:             errLayout.Error(),
		`{"v":1,"generation":1,"first":0,"parts":1,"relations":9,"sha256":"` + digest + `"}`:              errLayout.Error(),
		`{"v":1,"generation":1,"first":2000000,"parts":1,"relations":9,"sha256":"` + digest + `"}`:        errLayout.Error(),
		`{"v":1,"generation":1,"first":1,"parts":1,"relations":9,"sha256":"short"}`:                       errLayout.Error(),
		`{"11782":"11781"}`: errLayout.Error(),
		`[]`:                errLayout.Error(),
		`"text"`:            errLayout.Error(),
		`{"v":1,`:           errLayout.Error(),
		``:                  errLayout.Error(),
	} {
		got := ""
		if _, err := decodeHead([]byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		`{"v":1,"generation":1,"part":1,"parents":{"2":"1"}}`:                         true,
		`{"v":1,"generation":1,"part":0,"parents":{"2":"1"}}`:                         false,
		`{"v":1,"generation":1,"part":1}`:                                             false,
		`{"v":1,"generation":1,"parents":{}}`:                                         false,
		`{"v":1,"generation":1,"first":3,"parts":2,"relations":9,"sha256":"` + digest: false,
	} {
		if _, err := decodePart([]byte(text)); (err == nil) != want {
			t.Errorf("the part %s: %v", text, err)
		}
	}
}

func TestPartNumber(t *testing.T) {
	for key, want := range map[string]int{
		"outrigger.threads.1": 1, "outrigger.threads.64": 64, "outrigger.threads": 0, "outrigger.threads.": 0, "outrigger.threads.0": 0,
		"outrigger.threads.01": 0, "outrigger.threads.+1": 0, "outrigger.threads.1a": 0, "outrigger.threads.-1": 0, "threads.1": 0,
		"outrigger.threads.99999999999999999999": 0,
	} {
		if n, ok := partNumber(key); ok != (want > 0) || ok && n != want {
			t.Errorf("%s: %d, %v", key, n, ok)
		}
	}
}

// What can be read is written alike, and read again the same.
func FuzzDecode(f *testing.F) {
	h, parts, err := compose(nil, many(3))
	if err != nil || parts != nil {
		f.Fatal(err)
	}
	f.Add(h.encode())
	f.Add(part{4, 2, many(2)}.encode())
	f.Add([]byte(`{"v":1,"generation":4,"first":1,"parts":5,"relations":5000,"sha256":"` + strings.Repeat("0", 64) + `"}`))
	f.Add([]byte(`{"v":1,"generation":1,"parents":{"1":2e0,"\u0031":"x"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if h, err := decodeHead(text); err == nil {
			again, err := decodeHead(h.encode())
			if err != nil || !bytes.Equal(again.encode(), h.encode()) {
				t.Errorf("%q is written as %s, %v", text, h.encode(), err)
			}
		}
		if p, err := decodePart(text); err == nil {
			again, err := decodePart(p.encode())
			if err != nil || !bytes.Equal(again.encode(), p.encode()) {
				t.Errorf("%q is written as %s, %v", text, p.encode(), err)
			}
		}
	})
}
