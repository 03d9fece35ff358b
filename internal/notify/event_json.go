package notify

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// appendJSON appends the event as encoding/json would write it, but for HTML,
// which it leaves as it is, and bytes that are not UTF-8, which become U+FFFD.
// Every event is kept so, and reflection takes three times as long.
func (e *Event) appendJSON(to []byte) []byte {
	w := jsonWriter{to}
	w.open('{')
	w.name("types")
	w.open('[')
	for _, t := range e.Types {
		w.next()
		w.quote(t.String())
	}
	w.close(']')
	w.text("key", e.Key)
	w.text("connection", e.Connection)
	w.time("at", e.At)
	w.user("actor", e.Actor)
	w.project(e.Project)
	w.repository(e.Repository)
	w.optional("branch", e.Branch)
	w.optional("sourceBranch", e.SourceBranch)
	w.users("reviewers", e.Reviewers)
	w.ref(e.Ref)
	w.pullRequest(e.PullRequest)
	w.comment(e.Comment)
	w.commits(e.Commits)
	w.number("commitCount", int64(e.CommitCount))
	w.build(e.Build)
	w.changes(e.Changes)
	w.facts(e.Facts)
	w.optional("url", e.URL)
	w.close('}')
	return w.b
}

// jsonWriter appends JSON. A comma is due where the last byte opens nothing.
type jsonWriter struct{ b []byte }

func (w *jsonWriter) open(b byte)  { w.b = append(w.b, b) }
func (w *jsonWriter) close(b byte) { w.b = append(w.b, b) }

func (w *jsonWriter) next() {
	if last := w.b[len(w.b)-1]; last != '{' && last != '[' && last != ':' {
		w.b = append(w.b, ',')
	}
}

// quote writes a string.
func (w *jsonWriter) quote(s string) {
	// Its only error is about bytes that are not UTF-8, which it replaces.
	w.b, _ = jsontext.AppendQuote(w.b, s)
}

func (w *jsonWriter) name(name string) {
	w.next()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, `":`...)
}

func (w *jsonWriter) text(name, s string) {
	w.name(name)
	w.quote(s)
}

// optional, like the rest below, leaves out a member without a value.
func (w *jsonWriter) optional(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *jsonWriter) integer(name string, n int64) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *jsonWriter) number(name string, n int64) {
	if n != 0 {
		w.integer(name, n)
	}
}

func (w *jsonWriter) flag(name string, is bool) {
	if is {
		w.name(name)
		w.b = append(w.b, "true"...)
	}
}

func (w *jsonWriter) time(name string, t time.Time) {
	if !t.IsZero() {
		w.name(name)
		w.b = append(w.b, '"')
		w.b = t.AppendFormat(w.b, time.RFC3339Nano)
		w.b = append(w.b, '"')
	}
}

func (w *jsonWriter) user(name string, u User) {
	if u != (User{}) {
		w.name(name)
		w.person(u)
	}
}

func (w *jsonWriter) person(u User) {
	w.open('{')
	w.optional("name", u.Name)
	w.optional("displayName", u.DisplayName)
	w.optional("email", u.Email)
	w.close('}')
}

func (w *jsonWriter) users(name string, users []User) {
	if len(users) == 0 {
		return
	}
	w.name(name)
	w.open('[')
	for _, u := range users {
		w.next()
		w.person(u)
	}
	w.close(']')
}

func (w *jsonWriter) project(p Project) {
	if p == (Project{}) {
		return
	}
	w.name("project")
	w.open('{')
	w.optional("key", p.Key)
	w.optional("name", p.Name)
	w.flag("personal", p.Personal)
	w.optional("url", p.URL)
	w.close('}')
}

func (w *jsonWriter) repository(r Repository) {
	if r == (Repository{}) {
		return
	}
	w.name("repository")
	w.open('{')
	w.optional("key", r.Key)
	w.optional("name", r.Name)
	w.optional("url", r.URL)
	w.close('}')
}

func (w *jsonWriter) ref(r *RefChange) {
	if r == nil {
		return
	}
	w.name("ref")
	w.open('{')
	w.text("name", r.Name)
	w.flag("tag", r.Tag)
	w.optional("from", r.From)
	w.optional("to", r.To)
	w.close('}')
}

func (w *jsonWriter) pullRequest(p *PullRequest) {
	if p == nil {
		return
	}
	w.name("pullRequest")
	w.open('{')
	w.integer("id", p.ID)
	w.text("title", p.Title)
	w.optional("description", p.Description)
	w.optional("state", p.State)
	w.flag("draft", p.Draft)
	w.user("author", p.Author)
	w.optional("source", p.Source)
	w.optional("target", p.Target)
	w.optional("url", p.URL)
	w.optional("mergeCommit", p.MergeCommit)
	w.users("added", p.Added)
	w.users("removed", p.Removed)
	w.close('}')
}

func (w *jsonWriter) comment(c *Comment) {
	if c == nil {
		return
	}
	w.name("comment")
	w.open('{')
	w.integer("id", c.ID)
	w.optional("text", c.Text)
	w.flag("task", c.Task)
	w.number("parent", c.Parent)
	w.optional("commit", c.Commit)
	w.optional("url", c.URL)
	w.close('}')
}

func (w *jsonWriter) commits(commits []Commit) {
	if len(commits) == 0 {
		return
	}
	w.name("commits")
	w.open('[')
	for i := range commits {
		c := &commits[i]
		w.next()
		w.open('{')
		w.text("id", c.ID)
		w.optional("message", c.Message)
		w.user("author", c.Author)
		w.time("at", c.At)
		w.optional("url", c.URL)
		w.close('}')
	}
	w.close(']')
}

func (w *jsonWriter) build(b *Build) {
	if b == nil {
		return
	}
	w.name("build")
	w.open('{')
	w.text("commit", b.Commit)
	w.text("key", b.Key)
	w.optional("name", b.Name)
	w.text("state", b.State)
	w.optional("description", b.Description)
	w.optional("url", b.URL)
	w.close('}')
}

func (w *jsonWriter) changes(changes []Change) {
	if len(changes) == 0 {
		return
	}
	w.name("changes")
	w.open('[')
	for _, c := range changes {
		w.next()
		w.open('{')
		w.text("field", c.Field)
		w.optional("old", c.Old)
		w.optional("new", c.New)
		w.close('}')
	}
	w.close(']')
}

func (w *jsonWriter) facts(facts []Fact) {
	if len(facts) == 0 {
		return
	}
	w.name("facts")
	w.open('[')
	for _, f := range facts {
		w.next()
		w.open('{')
		w.text("name", f.Name)
		w.text("value", f.Value)
		w.close('}')
	}
	w.close(']')
}
