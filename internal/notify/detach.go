package notify

import "strings"

// Detach copies all texts of the event into memory of its own. Decoders cut
// them out of the body of the webhook, which is several times as long, and
// would be held as long as any of them.
func (e *Event) Detach() {
	n := 0
	e.texts(func(s *string) { n += len(*s) })
	var b strings.Builder
	b.Grow(n)
	e.texts(func(s *string) {
		start := b.Len()
		b.WriteString(*s)
		*s = b.String()[start:]
	})
}

// texts visits every text of the event.
func (e *Event) texts(visit func(*string)) {
	each := func(texts ...*string) {
		for _, s := range texts {
			visit(s)
		}
	}
	each(&e.Key, &e.Connection, &e.Project.Key, &e.Project.Name, &e.Project.URL,
		&e.Repository.Key, &e.Repository.Name, &e.Repository.URL, &e.Branch, &e.SourceBranch, &e.URL)
	e.Actor.texts(visit)
	usersTexts(e.Reviewers, visit)
	if r := e.Ref; r != nil {
		each(&r.Name, &r.From, &r.To)
	}
	if r := e.Refs; r != nil {
		for i := range r.Names {
			visit(&r.Names[i])
		}
		for i := range r.Candidates {
			visit(&r.Candidates[i])
		}
	}
	if p := e.PullRequest; p != nil {
		each(&p.Title, &p.Description, &p.State, &p.Source, &p.Target, &p.URL, &p.MergeCommit)
		p.Author.texts(visit)
		usersTexts(p.Added, visit)
		usersTexts(p.Removed, visit)
	}
	if c := e.Comment; c != nil {
		each(&c.Text, &c.Commit, &c.URL)
	}
	for i := range e.Commits {
		c := &e.Commits[i]
		each(&c.ID, &c.Message, &c.URL)
		c.Author.texts(visit)
	}
	if b := e.Build; b != nil {
		each(&b.Commit, &b.Key, &b.Name, &b.State, &b.Description, &b.URL)
	}
	for i := range e.Changes {
		c := &e.Changes[i]
		each(&c.Field, &c.Old, &c.New)
	}
	for i := range e.Facts {
		each(&e.Facts[i].Name, &e.Facts[i].Value)
	}
}

func (u *User) texts(visit func(*string)) {
	visit(&u.Name)
	visit(&u.DisplayName)
	visit(&u.Email)
}

func usersTexts(users []User, visit func(*string)) {
	for i := range users {
		users[i].texts(visit)
	}
}
