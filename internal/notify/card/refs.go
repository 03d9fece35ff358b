package card

import (
	"strconv"
	"strings"

	"outrigger/internal/notify"
)

// manyRefs is the verb and the thing of a card about many branches or tags.
func manyRefs(e *notify.Event) string {
	n := count(e.Refs.Count)
	switch e.Types[0] {
	case notify.BranchCreated:
		return "created " + n + " branches"
	case notify.BranchUpdated:
		return "pushed to " + n + " branches"
	case notify.BranchDeleted:
		return "deleted " + n + " branches"
	case notify.TagCreated:
		return "created " + n + " tags"
	case notify.TagUpdated:
		return "moved " + n + " tags"
	case notify.TagDeleted:
		return "deleted " + n + " tags"
	case notify.FileEdited:
		return "edited files on " + n + " branches"
	}
	return "changed " + n + " branches or tags"
}

// count writes a number with a comma between thousands.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// addRefs names the first of many branches or tags.
func (f *factList) addRefs(e *notify.Event) {
	name := "Branches"
	switch e.Types[0] {
	case notify.TagCreated, notify.TagUpdated, notify.TagDeleted:
		name = "Tags"
	}
	names := make([]string, len(e.Refs.Names))
	for i, n := range e.Refs.Names {
		names[i] = line(n, maxUser)
	}
	value := strings.Join(names, ", ")
	if more := e.Refs.Count - len(names); more > 0 {
		value += " and " + count(more) + " more"
	}
	f.add(name, value)
}
