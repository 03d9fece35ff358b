package api

import (
	"strings"
	"testing"
)

func FuzzMetadata(f *testing.F) {
	f.Add("kind aGllcmFyY2h5,filename aWQtbWFwcGluZ3MuY3N2,is_draft")
	f.Add("kind")
	f.Add(", ,")
	f.Fuzz(func(t *testing.T, header string) {
		meta, err := parseMetadata(header)
		if err == nil && len(meta) > strings.Count(header, ",")+1 {
			t.Fatal(meta)
		}
	})
}
