// Package report writes the report of a migration: as a page to print and sign,
// and as CSV. Both have the same lines.
package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
)

// section is a part of the report.
type section struct {
	Name  string // in the CSV
	Title string
	Empty string // what is said where there are no lines
	Lines []line
}

// Counts reports whether one of the facts is a number.
func (s section) Counts() bool {
	return slices.ContainsFunc(s.Lines, func(l line) bool { return l.Count != nil })
}

// line is one fact.
type line struct {
	Item  string
	Count *int64 // nil where it is no number
	Text  string
}

func (s *section) say(item, text string) { s.Lines = append(s.Lines, line{Item: item, Text: text}) }

func (s *section) count(item string, n int64, text string) {
	s.Lines = append(s.Lines, line{item, &n, text})
}

// sections are what the report says.
func sections(r *admin.Report) []section {
	list := []section{progress(r), files(r), problems(r), failures(r), undoLeft(r), comparison(r), projects(r), trail(r)}
	return slices.DeleteFunc(list, func(s section) bool { return len(s.Lines) == 0 && s.Empty == "" })
}

func progress(r *admin.Report) section {
	s := section{Name: "migration", Title: "Migration"}
	status := string(r.Status.Status)
	if status != string(r.Status.Phase) {
		status += ", " + string(r.Status.Phase)
	}
	s.say("Report made", stamp(r.At))
	if !r.Final {
		s.say("Not final", "the migration, or the comparison after it, is not over")
	}
	s.say("Target", r.Target)
	s.say("Sites", r.Sites.Text)
	s.say("Status", status)
	if r.Status.Message != "" {
		s.say("Message", r.Status.Message)
	}
	if !r.Status.StartedAt.IsZero() {
		s.say("Started", stamp(r.Status.StartedAt))
	}
	if !r.EndedAt.IsZero() {
		s.say("Ended", stamp(r.EndedAt))
	}
	if r.Rate > 0 {
		s.say("Processing took", r.Worked.Round(time.Millisecond).String()+", pauses left out")
		s.say("Rate", strconv.FormatFloat(r.Rate, 'f', -1, 64)+" records a second")
	}
	s.count("Records", r.Status.Progress.Total, "each comment once")
	s.count("Records processed", r.Status.Progress.Processed, strconv.Itoa(r.Status.Progress.Percent)+"%")
	s.count("Issues processed", r.Status.IssuesProcessed, "")
	s.count("Thread relationships in the target", r.Status.ParentMapsCreated, "")
	s.count("Records not migrated", r.Status.Errors.Permanent, "")
	return s
}

// names of the files, in the order of a report.
var names = map[string]string{threads.HierarchyFile: "Hierarchy", threads.MappingsFile: "Id mappings"}

func files(r *admin.Report) section {
	s := section{Name: "file", Title: "Files", Empty: "The files are not known."}
	for _, in := range r.Inputs {
		of := names[in.Kind]
		s.say(of+": file", cmp.Or(in.Name, "unnamed file"))
		s.count(of+": bytes", in.Size, "")
		s.say(of+": SHA-256", in.SHA256)
		s.say(of+": sent", stamp(in.SentAt)+" by "+in.SentBy)
	}
	return s
}

// problems are what is wrong with the files.
func problems(r *admin.Report) section {
	s := section{Name: "problem", Title: "What is wrong with the files", Empty: "Nothing was found."}
	p := r.Preview
	if p == nil {
		s.Empty = "It is not known."
		return s
	}
	for _, sentence := range p.Incomplete {
		s.say("Accepted as incomplete", sentence)
	}
	for _, c := range []struct {
		item string
		n    int64
		text string
	}{
		{"Comments without a mapping", p.MissingComments.Count, ids(p.MissingComments)},
		{"Issues without a mapping", p.MissingIssues.Count, ids(p.MissingIssues)},
		{"Duplicate records", p.DuplicateRecords, "the last one counts"},
		{"Duplicate mappings", p.DuplicateMappings, "the last one counts"},
		{"Comments that are their own parent", p.SelfParents, ""},
		{"Records of cycles", p.Cycles, ""},
		{"Parents in another issue", p.OtherIssue, ""},
		{"Hierarchy: entries that could not be read", p.Hierarchy.Unreadable, ""},
		{"Id mappings: lines that could not be read", p.Mappings.Unreadable, ""},
	} {
		if c.n > 0 {
			s.count(c.item, c.n, c.text)
		}
	}
	for _, f := range []struct {
		of string
		threads.Reading
	}{{names[threads.HierarchyFile], p.Hierarchy.Reading}, {names[threads.MappingsFile], p.Mappings.Reading}} {
		for _, l := range f.Lines {
			s.say(f.of+": line "+strconv.FormatInt(l.Line, 10), l.Reason+" "+l.Text)
		}
	}
	return s
}

// listed is how many ids stand in a line; the preview has more.
const listed = 10

// ids are the first of some ids.
func ids(m threads.Missing) string {
	var list []string
	for _, id := range m.First[:min(len(m.First), listed)] {
		list = append(list, strconv.FormatInt(id, 10))
	}
	text := "ids " + strings.Join(list, ", ")
	if m.Count > int64(len(list)) {
		text += " …"
	}
	return text
}

// failures are the records that were not migrated, by reason and by what the
// target said.
func failures(r *admin.Report) section {
	s := section{Name: "error", Title: "Records that were not migrated", Empty: "None."}
	if r.Status.Phase != threads.PhaseCompleted {
		s.Empty = "None so far."
	}
	for _, g := range r.Status.Errors.Groups {
		text := g.Reason.Sentence()
		if said := g.Answer.String(); said != "" {
			text += " The target answered: " + said
		}
		s.count(string(g.Reason), g.Records, text)
	}
	return s
}

// undoLeft are the issues that undoing has left; no section where there are none.
func undoLeft(r *admin.Report) section {
	s := section{Name: "undo", Title: "Issues that were not undone"}
	for _, l := range r.UndoLeft {
		text := l.Reason.Sentence()
		if said := l.Answer.String(); said != "" {
			text += " The target answered: " + said
		}
		s.say(fmt.Sprintf("Issue %d, on the target %d", l.IssueID, l.CloudIssueID), text)
	}
	return s
}

// comparison is what verify found.
func comparison(r *admin.Report) section {
	s := section{Name: "comparison", Title: "Comparison with the target", Empty: "The target was not compared with the data."}
	v := r.Verification
	if v == nil {
		return s
	}
	s.say("State", v.State)
	s.say("Compared", stamp(v.UpdatedAt))
	if v.Message != "" {
		s.say("Message", v.Message)
	}
	s.count("Issues compared", v.Issues, "")
	s.count("Relationships expected", v.Relations, "those that the target refused included")
	s.count("Correct", v.Present, "")
	s.count("Missing", v.Missing, "")
	s.count("With another parent", v.Different, "")
	s.count("Records not compared", v.NotCompared, "errors of the data, or in issues that the target does not show")
	for _, i := range v.Skipped {
		s.say(strings.TrimSpace(fmt.Sprintf("Issue %d %s", i.CloudIssueID, i.IssueKey)), "not compared: the target does not let it be read")
	}
	for _, d := range v.First {
		found := "nothing"
		if d.Found != 0 {
			found = strconv.FormatInt(d.Found, 10)
		}
		issue := strconv.FormatInt(d.CloudIssueID, 10)
		if d.IssueKey != "" {
			issue += " (" + d.IssueKey + ")"
		}
		s.say(fmt.Sprintf("Issue %s, comment %d", issue, d.CommentID), fmt.Sprintf("ids of the target: expected parent %d, found %s",
			d.Expected, found))
	}
	if more := v.Missing + v.Different - int64(len(v.First)); more > 0 {
		s.count("More that differ", more, "not listed")
	}
	return s
}

// projects counts by project, where the target knows them; else it is no section.
func projects(r *admin.Report) section {
	s := section{Name: "project", Title: "Projects"}
	if r.Verification == nil {
		return s
	}
	counts := r.Verification.Projects
	say := func(item string, n threads.ProjectCount) {
		s.count(item, n.Records, fmt.Sprintf("records; issues: %s; not migrated: %s", threads.Thousands(n.Issues),
			threads.Thousands(n.NotMigrated)))
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if key != "" {
			say(key, counts[key])
		}
	}
	if rest, more := counts[""]; more {
		say("Other issues", rest)
	}
	return s
}

// trail is who did what.
func trail(r *admin.Report) section {
	s := section{Name: "trail", Title: "Who did what", Empty: "The audit trail has no entries about this migration."}
	if r.Earlier {
		s.say("Earlier", "older entries are in the audit trail")
	}
	for i := range r.Trail {
		e := &r.Trail[i]
		text := e.Who + ": " + e.Action
		if changed := changes(e); changed != "" {
			text += " (" + changed + ")"
		}
		s.say(stamp(e.At), text)
	}
	return s
}

// changes are what an entry of the audit trail changed.
func changes(e *audit.Stored) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(e.After)) {
		text := name + " " + e.After[name]
		if before, was := e.Before[name]; was {
			text = name + " " + before + " → " + e.After[name]
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
