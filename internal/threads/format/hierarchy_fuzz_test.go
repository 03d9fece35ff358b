package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/threads"
)

// reference reads the records of valid JSON by encoding/json.
func reference(in []byte) (records []threads.Record, bad, roots int64) {
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	for {
		v, err := tree(dec)
		if err != nil {
			return records, bad, roots
		}
		referenceValue(v, 0, &records, &bad, &roots)
	}
}

type member struct {
	name  string
	value any
}

// tree reads a value; an object as its members in their order.
func tree(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := tree(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	case json.Delim('{'):
		object := []member{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := tree(dec)
			if err != nil {
				return nil, err
			}
			object = append(object, member{name.(string), v})
		}
		_, err = dec.Token()
		return object, err
	}
	return token, nil
}

// referenceValue takes what v holds. depth is 0 at the top, 1 in an array
// there, 2 in a page's data.
func referenceValue(v any, depth int, records *[]threads.Record, bad, roots *int64) {
	list, isList := v.([]any)
	object, isObject := v.([]member)
	switch {
	case isList && depth == 0:
		for _, e := range list {
			referenceValue(e, 1, records, bad, roots)
		}
		return
	case !isObject:
		*bad++
		return
	}
	var ids [3]*int64
	wrong, page := false, false
	for i, m := range object {
		if data, ok := m.value.([]any); ok && depth < 2 && strings.EqualFold(m.name, "data") && ascii(m.name) {
			if page {
				continue
			}
			page = true
			for _, e := range data {
				referenceValue(e, 2, records, bad, roots)
			}
		}
		for n, name := range []string{"issueId", "commentId", "parentCommentId"} {
			if !strings.EqualFold(m.name, name) || !ascii(m.name) {
				continue
			}
			ids[n] = nil
			if n == 2 {
				wrong = false
			}
			if id, err := referenceID(object[i].value); err == nil {
				ids[n] = id
			} else if n == 2 {
				wrong = true
			}
		}
	}
	switch {
	case page:
	case ids[0] != nil && ids[1] != nil && ids[2] != nil:
		*records = append(*records, threads.Record{IssueID: *ids[0], CommentID: *ids[1], ParentCommentID: *ids[2]})
	case ids[0] != nil && ids[1] != nil && !wrong:
		*roots++
	default:
		*bad++
	}
}

func ascii(s string) bool { return len(s) == len([]rune(s)) }

func referenceID(v any) (*int64, error) {
	var s string
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.Number:
		s = v.String()
	case string:
		s = strings.TrimSpace(v)
		if len(v) > maxWord {
			return nil, errors.New("too long")
		}
	default:
		return nil, errors.New("no number")
	}
	if len(s) > maxWord {
		return nil, errors.New("too long")
	}
	id, err := strconv.ParseInt(s, 10, 64)
	return &id, err
}

// Both decoders agree on every valid file, whatever the window; a file that is
// cut off gives the beginning of what the whole one gives; nothing makes the
// decoder panic or run for ever.
func FuzzHierarchy(f *testing.F) {
	for _, seed := range []string{
		`[{"issueId":1,"commentId":2,"parentCommentId":3},{"commentId":"4","issueId":1,"parentCommentId":null}]`,
		`{"offset":0,"data":[{"issueId":1,"commentId":2,"parentCommentId":3}, 7],"hasMore":true,"totalCount":5} [{}]`,
		`[{"data":[{"issueId":9007199254740993,"commentId":-2,"parentCommentId":3e2}]},{"x":{"data":[[]]},"issueId":[1]}]`,
		"[{\"issueId\":1,\"commentId\":2,\n\"parentCommentId\":\"\\u0033\"},{bad},{\"issueId\"", `{"data":1,"hasMore":"x"}`,
	} {
		f.Add([]byte(seed), 17)
	}
	f.Fuzz(func(t *testing.T, in []byte, cutAt int) {
		got, reading, err := readHierarchy(bytes.NewReader(in), 4<<10)
		small, smallReading, smallErr := readHierarchy(iotest.OneByteReader(bytes.NewReader(in)), smallWindow)
		if diff := cmp.Diff(got, small); diff != "" || fmt.Sprint(err) != fmt.Sprint(smallErr) {
			t.Fatal(diff, err, smallErr)
		}
		if reading.Unreadable != smallReading.Unreadable || reading.Roots != smallReading.Roots || reading.Truncated != smallReading.Truncated {
			t.Fatal(reading, smallReading)
		}
		if err == nil && validStream(in) {
			records, bad, roots := reference(in)
			if diff := cmp.Diff(records, got); diff != "" {
				t.Fatalf("encoding/json reads other records: %s", diff)
			}
			if bad != reading.Unreadable || roots != reading.Roots || reading.Truncated != (len(bytes.TrimSpace(in)) == 0) {
				t.Fatal(bad, roots, reading)
			}
		}
		if cutAt >= 0 && cutAt < len(in) {
			beginning, _, _ := readHierarchy(bytes.NewReader(in[:cutAt]), 4<<10)
			if len(beginning) > len(got) && err == nil {
				t.Fatalf("cut off at %d there are %d records, and %d in all", cutAt, len(beginning), len(got))
			}
		}
	})
}

// validStream reports whether in is JSON values in a row, without what encoding/json
// takes for white space between tokens and RFC 8259 does not.
func validStream(in []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(in))
	for {
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return errors.Is(err, io.EOF)
		}
		if v[0] != '[' && v[0] != '{' {
			return false // a bare value at the top is another matter
		}
	}
}

func BenchmarkHierarchy(b *testing.B) {
	var file bytes.Buffer
	file.WriteByte('[')
	for i := range 1_000_000 {
		if i > 0 {
			file.WriteByte(',')
		}
		fmt.Fprintf(&file, `{"issueId":%d,"commentId":%d,"parentCommentId":%d}`, 10000+i/5, 100001+i, 100000+i)
	}
	file.WriteByte(']')
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		d := NewHierarchyDecoder(bytes.NewReader(file.Bytes()))
		for {
			if _, err := d.Next(); err != nil {
				break
			}
		}
		if d.Reading().Records != 1_000_000 {
			b.Fatal(d.Reading())
		}
	}
}
