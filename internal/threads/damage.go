package threads

import (
	"fmt"
	"strconv"

	"outrigger/internal/fault"
)

// Damage says in sentences, with the numbers, what shows that a hierarchy file
// is not all that it should be; nil where nothing does. distinct is how many
// records it has when each comment is counted once.
func (r *HierarchyReading) Damage(distinct int64) (list []string) {
	const file = "The hierarchy file"
	switch {
	case r.Truncated && r.Records+r.Roots+r.Unreadable == 0:
		list = append(list, file+" has no records: it is empty, or cut off in its first one.")
	case r.Truncated:
		list = append(list, fmt.Sprintf("%s is cut off: it ends after %s.", file, Counted(r.Records, "record")))
	case r.Records == 0:
		list = append(list, file+" has no records.")
	}
	if r.Unreadable > 0 {
		list = append(list, Counted(r.Unreadable, "entry")+" of the hierarchy file could not be read.")
	}
	if r.Loose > 0 {
		list = append(list, Counted(r.Loose, "record")+" of the hierarchy file are in no array, so its beginning or its end may be missing.")
	}
	switch have := distinct + r.Roots; {
	case r.Partial(distinct) && have >= r.TotalCount:
		list = append(list, fmt.Sprintf("%s has as many records as the export (%s), and yet its last page says that there are more.", file,
			Thousands(r.TotalCount)))
	case r.Partial(distinct):
		what := "this is one page"
		if r.Pages != 1 {
			what = fmt.Sprintf("these are %s pages", Thousands(r.Pages))
		}
		list = append(list, fmt.Sprintf("%s of %s: %s of the export, and not all of it.", Thousands(have), Thousands(r.TotalCount), what))
	}
	return list
}

// Damage says what shows that an id mappings file is not all that it should be,
// as HierarchyReading.Damage does.
func (r *MappingReading) Damage() (list []string) {
	const file = "The id mappings file"
	switch {
	case r.Rows == 0 && r.Unreadable == 0:
		list = append(list, file+" has no mappings.")
	case r.Truncated:
		list = append(list, fmt.Sprintf("The last line of the id mappings file has no line end, so it may be cut off and was not used; "+
			"%s before it.", standing(r.Rows, "mapping")))
	case r.Rows == 0:
		list = append(list, file+" has no mappings.")
	}
	if r.Unreadable > 0 {
		list = append(list, Counted(r.Unreadable, "line")+" of the id mappings file could not be read.")
	}
	if r.NoHeader {
		list = append(list, file+" has no header, so its beginning may be missing; its columns were taken as entityType, serverId and cloudId.")
	}
	return list
}

// Judge sets Incomplete by the rest of the preview.
func (p *Preview) Judge() {
	distinct := p.Hierarchy.Records - p.DuplicateRecords
	p.Partial = p.Hierarchy.Partial(distinct)
	p.Incomplete = append(p.Hierarchy.Damage(distinct), p.Mappings.Damage()...)
	unmapped := p.Errors[NoIssueMapping] + p.Errors[NoCommentMapping] + p.Errors[NoParentMapping]
	if p.Records > 0 && p.Mappings.Rows > 0 && unmapped == p.Records {
		p.Incomplete = append(p.Incomplete, fmt.Sprintf("None of the records (%s) has all its mappings: are both files of the same "+
			"instance, and are serverId and cloudId not swapped?", Thousands(p.Records)))
	}
}

// ErrIncomplete refuses files that are damaged.
func (p *Preview) ErrIncomplete() *fault.Error {
	text := ""
	for _, sentence := range p.Incomplete {
		text += sentence + " "
	}
	return fault.New(fault.Conflict, "%sExport the files again, or load them as they are with acceptIncomplete=true.", text)
}

// Counted writes a number of things, named in the singular: "1 issue", "2,000
// issues".
func Counted(n int64, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case thing == "entry":
		thing = "entrie"
	}
	return Thousands(n) + " " + thing + "s"
}

// standing says where a number of things is.
func standing(n int64, thing string) string {
	if n == 1 {
		return Counted(n, thing) + " stands"
	}
	return Counted(n, thing) + " stand"
}

// Thousands writes a number as people read it: 1,234,567.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
