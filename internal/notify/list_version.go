package notify

import (
	"fmt"
	"hash"
	"hash/fnv"
)

// ListVersion becomes a text that is another one when any of what was added to it
// is. The text tells no more, and holds for one process.
type ListVersion struct{ sum hash.Hash64 }

// NewListVersion is one with these values added.
func NewListVersion(values ...any) *ListVersion {
	v := &ListVersion{fnv.New64a()}
	v.Add(values...)
	return v
}

// Add adds a row.
func (v *ListVersion) Add(values ...any) { fmt.Fprintln(v.sum, values...) }

// Text is the version of what was added.
func (v *ListVersion) Text() string { return fmt.Sprintf("%x", v.sum.Sum64()) }
