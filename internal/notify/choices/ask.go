package choices

import (
	"context"
	"slices"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

const (
	// askTime is how long a platform may take to answer: the user waits for it.
	askTime = 3 * time.Second
	// silentFor is how long a platform that did not answer is not asked again.
	silentFor = 15 * time.Second
	// maxProjects is the number of projects whose repositories are requested one after the
	// other, for users who do not administer the platform.
	maxProjects = 5
)

// ask asks the platform, if it can be asked, and returns a note for the user.
func (s *Service) ask(ctx context.Context, c *notify.Connection, a *answering) (note string) {
	if c.Token.IsZero() {
		return "The connection " + c.Name + " has no account to search the platform with. Type the name."
	}
	now := s.Clock()
	s.mu.Lock()
	silent := now.Before(s.silent[c.Name])
	s.mu.Unlock()
	if silent {
		return unanswered
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	err := s.search(asking, c, a)
	if err == nil || ctx.Err() != nil { // who asked has typed on
		return ""
	}
	s.mu.Lock()
	s.silent[c.Name] = now.Add(silentFor)
	s.mu.Unlock()
	if e := fault.As(err); e != nil && a.who.May(identity.Admin, identity.Resource{}) {
		return e.Message + " Type the name."
	}
	return unanswered
}

const unanswered = "The platform does not answer at the moment. Type the name."

func (s *Service) search(ctx context.Context, c *notify.Connection, a *answering) error {
	switch a.q.Kind {
	case Users:
		return a.take(s.Platform.SearchUsers(ctx, c, a.q.Text, most))
	case Groups:
		return a.take(s.Platform.SearchGroups(ctx, c, a.q.Text, most))
	case Projects:
		if !a.who.May(identity.Admin, identity.Resource{}) { // their grants name them all
			return nil
		}
		return a.take(s.Platform.SearchProjects(ctx, c, a.q.Text, most))
	}
	project, name := a.q.repository()
	if a.who.May(identity.Admin, identity.Resource{}) {
		return a.take(s.Platform.SearchRepositories(ctx, c, project, name, most))
	}
	asked := 0
	for _, g := range a.who.Grants {
		key := g.Resource.Project
		if g.Permission != identity.ProjectAdmin || g.Resource.Connection != c.Name || project != "" && notify.Fold(project) != notify.Fold(key) {
			continue
		}
		if asked++; asked > maxProjects {
			a.more = true
			break
		}
		if err := a.take(s.Platform.SearchRepositories(ctx, c, key, name, most)); err != nil {
			return err
		}
	}
	return nil
}

// repository returns the project and the name of the repository to find; the
// project "" is any.
func (q Query) repository() (project, name string) {
	if before, after, typed := strings.Cut(q.Text, "/"); typed {
		return strings.TrimSpace(before), strings.TrimSpace(after)
	}
	return q.ProjectKey, q.Text
}

// known returns the projects and repositories known here that match what was typed.
func (s *Service) known(ctx context.Context, c *notify.Connection, q Query) (list []notify.Found, err error) {
	if q.Kind.people() {
		return nil, nil
	}
	places, err := s.Known(ctx)
	if err != nil {
		return nil, err
	}
	places = append(places, placesOf(identity.From(ctx))...)
	project, name := q.repository()
	inProject := func(key string) bool { return project == "" || notify.Fold(project) == notify.Fold(key) }
	for _, at := range places {
		switch {
		case at.Connection != c.Name || at.Project == "":
		case q.Kind == Projects && has(at.Project, q.Text):
			list = append(list, notify.Found{Value: at.Project})
		case q.Kind == Repositories && at.Repository != "" && has(at.Repository, name) && inProject(at.Project):
			list = append(list, notify.Found{Value: at.Project + "/" + at.Repository})
		}
	}
	slices.SortFunc(list, func(a, b notify.Found) int { return strings.Compare(a.Value, b.Value) })
	return list, nil
}

func placesOf(who *identity.Principal) (places []identity.Resource) {
	for _, g := range who.Grants {
		places = append(places, g.Resource)
	}
	return places
}

func has(name, part string) bool { return strings.Contains(notify.Fold(name), notify.Fold(part)) }

// answering collects an answer.
type answering struct {
	q    Query
	who  *identity.Principal
	of   string // the connection
	list []notify.Found
	seen map[string]bool
	more bool
	note string
}

// take adds what a platform answered.
func (a *answering) take(found []notify.Found, more bool, err error) error {
	for _, one := range found {
		a.add(one)
	}
	a.more = a.more || more
	return err
}

// add adds one that is new and that the user may see.
func (a *answering) add(one notify.Found) {
	key := notify.Fold(one.Value)
	if a.seen[key] || !a.mayKnow(one) {
		return
	}
	if a.seen[key] = true; len(a.list) >= most {
		a.more = true
		return
	}
	if one.Label == one.Value {
		one.Label = ""
	}
	a.list = append(a.list, one)
}

func (a *answering) mayKnow(one notify.Found) bool {
	project, repository, _ := strings.Cut(one.Value, "/")
	switch a.q.Kind {
	case Projects: // who administers a repository knows its project
		return a.who.May(identity.Admin, identity.Resource{}) || slices.ContainsFunc(a.who.Grants, func(g identity.Grant) bool {
			return g.Resource.Connection == a.of && notify.Fold(g.Resource.Project) == notify.Fold(project)
		})
	case Repositories:
		return a.who.May(identity.RepoAdmin, identity.Resource{Connection: a.of, Project: project, Repository: repository})
	}
	return true // who asks administers the place
}

func (a *answering) answer() Answer {
	answer := Answer{Found: a.list, More: a.more, Note: a.note}
	if answer.Found == nil {
		answer.Found = []notify.Found{}
	}
	return answer
}
