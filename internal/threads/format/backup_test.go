package format

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

func backupOf(t testing.TB, list ...threads.IssueMap) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewBackupWriter(&out, threads.EmbeddedTarget, time.Unix(1e9, 0))
	for _, m := range list {
		if err == nil {
			err = w.Add(m.CloudIssueID, m.Parents)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// restored reads a backup to its end.
func restored(r io.Reader) (map[int64]threads.ParentMap, error) {
	in, err := NewBackupReader(r)
	list := map[int64]threads.ParentMap{}
	for err == nil {
		var m threads.IssueMap
		if m, err = in.Next(); err == nil {
			list[m.CloudIssueID] = m.Parents
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return list, err
}

var backedUp = []threads.IssueMap{
	{CloudIssueID: -3, Parents: parents(1, 2)},
	{CloudIssueID: 10, Parents: parents(1<<60, 5, 1<<60+1, 1<<60)},
	{CloudIssueID: 11, Parents: parents(7, 8)},
}

// parents is a parent map: a comment and its parent, and so on.
func parents(ids ...int64) (m threads.ParentMap) {
	for pair := range slices.Chunk(ids, 2) {
		m = append(m, threads.Relation{CommentID: pair[0], ParentID: pair[1]})
	}
	return m
}

// The lines are as documented, and what was written is read.
func TestBackup(t *testing.T) {
	file := backupOf(t, backedUp...)
	zip, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"format":"outrigger-threads-backup","version":1,"target":"embedded","createdAt":"2001-09-09T01:46:40Z"}
{"issueId":"-3","parents":{"1":"2"}}
{"issueId":"10","parents":{"1152921504606846976":"5","1152921504606846977":"1152921504606846976"}}
{"issueId":"11","parents":{"7":"8"}}
`
	if trailer := fmt.Sprintf(`{"issues":3,"relations":4,"sha256":"%x"}`+"\n", sha256.Sum256([]byte(want))); string(text) != want+trailer {
		t.Errorf("%s", text)
	}
	list, err := restored(bytes.NewReader(file))
	if err != nil || len(list) != 3 || !slices.Equal(list[10], backedUp[1].Parents) {
		t.Error(list, err)
	}
}

// packed is what a backup's text looks like in the end.
func packed(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, text) // to memory
	_ = w.Close()
	return out.Bytes()
}

// A backup that is damaged in any way is told from a whole one.
func TestDamagedBackup(t *testing.T) {
	file := backupOf(t, backedUp...)
	whole, err := restored(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for n := range file {
		if _, err := restored(bytes.NewReader(file[:n])); !fault.Is(err, fault.Invalid) {
			t.Errorf("cut after %d of %d bytes: %v", n, len(file), err)
		}
		for bit := range 8 {
			damaged := bytes.Clone(file)
			damaged[n] ^= 1 << bit
			// gzip's own header has bytes that mean nothing.
			if list, err := restored(bytes.NewReader(damaged)); !fault.Is(err, fault.Invalid) && !(err == nil && maps.EqualFunc(list, whole, slices.Equal)) {
				t.Errorf("bit %d of byte %d turned: %v, %v", bit, n, list, err)
			}
		}
	}
	zip, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	lines := strings.SplitAfter(text, "\n")
	for _, c := range []struct{ name, text, want string }{
		{"another relation", strings.Replace(text, `"7":"8"`, `"7":"9"`, 1), "its checksum does not fit"},
		{"an issue less", strings.Replace(text, lines[2], "", 1), "its checksum does not fit"},
		{"another count", strings.Replace(text, `"issues":3`, `"issues":4`, 1), "its checksum does not fit"},
		{"issues in another order", lines[0] + lines[2] + lines[1] + lines[3] + lines[4], "the line of issue 2 is damaged"},
		{"an issue twice", lines[0] + lines[1] + lines[1] + lines[2] + lines[3] + lines[4], "the line of issue 2 is damaged"},
		{"no trailer", strings.Join(lines[:4], ""), "it is cut off"},
		{"something behind", text + "{}\n", "something follows its end"},
		{"no backup", `[{"issueId":1,"commentId":2,"parentCommentId":3}]` + "\n", "its first line is not that of a backup"},
		{"a later version", strings.Replace(text, `"version":1`, `"version":2`, 1), "it has version 2, and this release knows 1"},
		{"nothing", "", "it is cut off"},
		{"a parent that is not a number", strings.Replace(text, `"8"`, `"eight"`, 1), "the line of issue 3 is damaged"},
		{"an issue that is not a number", strings.Replace(text, `"11"`, `"x"`, 1), "the line of issue 3 is damaged"},
	} {
		_, err := restored(bytes.NewReader(packed(c.text)))
		if want := "The file is not a complete backup: " + c.want + ". Nothing was changed."; !fault.Is(err, fault.Invalid) || fault.As(err).Message != want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for name, file := range map[string][]byte{"text": raw, "nothing": nil, "two files": append(bytes.Clone(file), file...)} {
		if _, err := restored(bytes.NewReader(file)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("the disk")
	if _, err := restored(io.MultiReader(bytes.NewReader(file[:50]), errReader{broken})); !errors.Is(err, broken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// No file makes the reader fail in another way, or not end.
func FuzzBackup(f *testing.F) {
	file := backupOf(f, backedUp...)
	zip, _ := gzip.NewReader(bytes.NewReader(file))
	text, _ := io.ReadAll(zip)
	f.Add(string(text))
	f.Add(`{"format":"outrigger-threads-backup","version":1}` + "\n" + `{"issueId":"1","parents":{"2":3}}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := restored(bytes.NewReader(packed(text)))
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		if err != nil {
			return
		}
		var again []threads.IssueMap
		for _, id := range slices.Sorted(maps.Keys(list)) {
			again = append(again, threads.IssueMap{CloudIssueID: id, Parents: list[id]})
		}
		if same, err := restored(bytes.NewReader(backupOf(t, again...))); err != nil || !maps.EqualFunc(same, list, slices.Equal) {
			t.Errorf("%v is read as %v, %v", list, same, err)
		}
	})
}
