package card

import (
	"strconv"

	"outrigger/internal/notify"
)

const (
	maxFacts   = 12 // longer cards are not read
	maxUsers   = 10 // of a list of reviewers
	maxCommits = 5  // of a push
)

// facts are what the card says beside its sentence, and how many more there are.
func facts(e *notify.Event) ([]notify.Fact, int) {
	var f factList
	if e.Ref != nil && e.Ref.Tag {
		f.add("Tag", line(e.Branch, maxName))
	}
	if e.Refs != nil {
		f.addRefs(e)
	}
	if b := e.Build; b != nil {
		f.addBuild(b)
	}
	if p := e.PullRequest; p != nil {
		f.addPullRequest(e, p)
	}
	for _, c := range e.Changes {
		f.addChange(c, e.Types[0])
	}
	for _, x := range e.Facts {
		if x.Name != "Issue" { // the title has it
			f.add(line(x.Name, maxName), line(x.Value, maxValue))
		}
	}
	shown := min(len(f), maxFacts)
	return f[:shown], len(f) - shown
}

// factOf is the value of one of the event's facts.
func factOf(e *notify.Event, name string) string {
	for _, f := range e.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

type factList []notify.Fact

func (f *factList) add(name, value string) {
	if name != "" && value != "" {
		*f = append(*f, notify.Fact{Name: name, Value: value})
	}
}

func (f *factList) addBuild(b *notify.Build) {
	f.add("State", line(b.State, maxName))
	f.add("Result", line(b.Description, maxValue))
	f.add("Commit", short(b.Commit))
}

func (f *factList) addPullRequest(e *notify.Event, p *notify.PullRequest) {
	if !samePerson(p.Author, e.Actor) { // the title names the actor
		f.add("Author", line(p.Author.Label(), maxName))
	}
	if e.Comment == nil {
		f.add("Reviewers", users(e.Reviewers))
	}
	f.add("Added", users(p.Added))
	f.add("Removed", users(p.Removed))
	f.add("Merge commit", short(p.MergeCommit))
}

// samePerson reports whether two users are one: bodies may leave out the e-mail
// address, or one of the names.
func samePerson(a, b notify.User) bool {
	if a.Name != "" && b.Name != "" {
		return a.Name == b.Name
	}
	return a.Label() == b.Label()
}

// users lists the first of them by what people call them.
func users(all []notify.User) string {
	if len(all) == 0 {
		return ""
	}
	b := make([]byte, 0, 64)
	for i, u := range all {
		if i == maxUsers {
			b = append(b, " and "...)
			b = strconv.AppendInt(b, int64(len(all)-i), 10)
			b = append(b, " more"...)
			break
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, line(u.Label(), maxUser)...)
	}
	return string(b)
}

// addChange shows old and new. Whole descriptions are too long for that.
func (f *factList) addChange(c notify.Change, t notify.EventType) {
	before, after := line(c.Old, maxValue/2), line(c.New, maxValue/2)
	name := ""
	switch c.Field {
	case "description", "text":
		f.add(fieldName(c.Field), "changed")
		return
	case "commit":
		name, before, after = "Commits", short(c.Old), short(c.New)
	case "key":
		name = "Project key"
		if t == notify.ProjectFieldEdited {
			name = "Key"
		}
	default:
		name = fieldName(c.Field)
	}
	if before == "" {
		before = "none"
	}
	if after == "" {
		after = "none"
	}
	f.add(name, before+" → "+after)
}

// fieldName is a field's name with a capital, where it starts with an ASCII letter.
func fieldName(field string) string {
	field = line(field, maxName)
	if field != "" && 'a' <= field[0] && field[0] <= 'z' {
		return string(field[0]-'a'+'A') + field[1:]
	}
	return field
}

// commits are those that a push's card names, and how many more there are.
func commits(e *notify.Event) ([]Commit, int) {
	if e.Ref != nil && e.Ref.Tag || len(e.Commits) == 0 { // a tag is no news of its commits
		return nil, 0
	}
	shown := e.Commits[:min(len(e.Commits), maxCommits)]
	all := make([]Commit, len(shown))
	for i, c := range shown {
		all[i] = Commit{
			ID:      short(c.ID),
			Message: line(c.Message, maxMessage),
			Author:  line(c.Author.Label(), maxUser),
			URL:     Absolute(c.URL),
		}
	}
	return all, max(e.CommitCount, len(e.Commits)) - len(shown)
}
