package cloudsite

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// property is what an app on the site reads of outrigger.threads and its parts.
type property struct {
	Generation int64             `json:"generation"`
	First      int               `json:"first"`
	Parts      int               `json:"parts"`
	Parents    map[string]string `json:"parents"`
}

// Threads is the property that a reader begins with.
const Threads = "outrigger.threads"

// Parents returns the parent map of an issue, as an app on the site sees it: the
// head, and those parts that have the head's generation. Nothing: nil.
func (s *Site) Parents(id int64) (map[string]string, error) {
	head, ok, err := s.property(id, Threads)
	if !ok || err != nil || head.Parts == 0 {
		return head.Parents, err
	}
	parents := map[string]string{}
	for n := head.First; n < head.First+head.Parts; n++ {
		part, ok, err := s.property(id, Threads+"."+strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
		if !ok || part.Generation != head.Generation {
			return nil, errors.New("parts of the map are missing")
		}
		for comment, parent := range part.Parents {
			parents[comment] = parent
		}
	}
	return parents, nil
}

func (s *Site) property(id int64, key string) (p property, ok bool, err error) {
	text, ok := s.Property(id, key)
	if ok {
		err = json.Unmarshal([]byte(text), &p)
	}
	if err != nil {
		return p, ok, fmt.Errorf("%s cannot be read: %w", key, err)
	}
	return p, ok, nil
}

// Comment is one with those that answer it.
type Comment struct {
	ID      string
	Replies []Comment
}

const (
	maxComments = 100 // of an issue on the page
	maxDepth    = 12  // of a thread on the page
)

// tree makes threads of a parent map, and says how many comments it leaves out.
func tree(parents map[string]string) (roots []Comment, more int) {
	replies := map[string][]string{}
	for comment, parent := range parents {
		replies[parent] = append(replies[parent], comment)
	}
	shown := map[string]bool{}
	var grow func(id string, depth int) Comment
	grow = func(id string, depth int) Comment {
		shown[id] = true
		c := Comment{ID: id}
		for _, reply := range sorted(replies[id]) {
			if depth < maxDepth && len(shown) < maxComments && !shown[reply] {
				c.Replies = append(c.Replies, grow(reply, depth+1))
			}
		}
		return c
	}
	var tops []string
	for parent := range replies {
		if _, answers := parents[parent]; !answers {
			tops = append(tops, parent)
		}
	}
	for _, top := range sorted(tops) {
		if len(shown) < maxComments {
			roots = append(roots, grow(top, 0))
		}
	}
	for comment := range parents {
		if !shown[comment] {
			more++
		}
	}
	return roots, more
}

// sorted orders ids as numbers.
func sorted(ids []string) []string {
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return ids
}
