package staging

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// pagesOf writes records as export pages in a row.
func pagesOf(records []threads.Record, size int) string {
	var b strings.Builder
	for from := 0; from < len(records); from += size {
		part := records[from:min(from+size, len(records))]
		fmt.Fprintf(&b, `{"offset":%d,"data":%s,"hasMore":%t,"totalCount":%d}`+"\n", from, threadstest.Hierarchy(part), from+size < len(records), len(records))
	}
	return b.String()
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a buffer takes everything
	_ = w.Close()
	return b.String()
}

func zipped(text string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, _ := w.Create("comments_hierarchy_export.json")
	_, _ = f.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// A good file that is cut anywhere, at every border of its records and inside
// them, is refused or said to be incomplete; whole it is neither.
func TestCutFilesAreNeverComplete(t *testing.T) {
	records, mappings := threadstest.Many(7, 3)
	array, csv := threadstest.Hierarchy(records), threadstest.CSV(mappings)
	pretty, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]struct {
		text    string
		isCSV   bool
		byLines bool // cut at the end of a line, it is a whole file
	}{
		"an array":       {text: array},
		"pretty-printed": {text: string(pretty)},
		"a page":         {text: pagesOf(records, 100)},
		"pages":          {text: pagesOf(records, 3)},
		"gzip":           {text: gzipped(array)},
		"zip":            {text: zipped(array)},
		"gzip of a CSV":  {text: gzipped(csv), isCSV: true},
		"zip of a CSV":   {text: zipped(csv), isCSV: true},
		"a CSV":          {text: csv, isCSV: true, byLines: true},
		"a CSV of CRLF":  {text: strings.ReplaceAll(csv, "\n", "\r\n"), isCSV: true, byLines: true},
	} {
		t.Run(name, func(t *testing.T) {
			for at := range len(file.text) + 1 {
				part := file.text[:at]
				hierarchy, mapped := part, csv
				if file.isCSV {
					hierarchy, mapped = array, part
				}
				o, _ := options(hierarchy, mapped, defaultRows)
				preview, err := Stage(context.Background(), o)
				whole := at == len(file.text) || !file.isCSV && strings.TrimSpace(file.text[at:]) == ""
				switch {
				case file.byLines && !whole && strings.HasSuffix(part, "\n"):
				case err != nil && (whole || !fault.Is(err, fault.Invalid)):
					t.Errorf("the first %d of %d bytes: %v", at, len(file.text), err)
				case err == nil && whole != (len(preview.Incomplete) == 0):
					t.Errorf("the first %d of %d bytes: %q", at, len(file.text), preview.Incomplete)
				}
			}
		})
	}
}

// The same of any records: what is not there in whole is never complete.
func TestCutHierarchiesAreNeverComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records, mappings := threadstest.Many(int64(rapid.IntRange(1, 40).Draw(t, "records")), 4)
		text := threadstest.Hierarchy(records)
		if size := rapid.IntRange(0, 9).Draw(t, "page"); size > 0 {
			text = strings.TrimSpace(pagesOf(records, size))
		}
		text = rapid.SampledFrom([]func(string) string{strings.Clone, gzipped, zipped}).Draw(t, "around it")(text)
		at := rapid.IntRange(0, len(text)-1).Draw(t, "cut at")
		o, _ := options(text[:at], threadstest.CSV(mappings), defaultRows)
		preview, err := Stage(context.Background(), o)
		if err == nil && len(preview.Incomplete) == 0 || err != nil && !fault.Is(err, fault.Invalid) {
			t.Fatalf("%d of %d bytes: %v, %+v", at, len(text), err, preview)
		}
	})
}
