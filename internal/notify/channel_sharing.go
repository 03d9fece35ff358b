package notify

import (
	"slices"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// maxShares is how many projects a channel may be shared with; with more, it is better
// shared with everyone.
const maxShares = 100

// Sharing is who may have rules and reports send to a channel, besides those who
// administer one that does.
type Sharing struct {
	Everyone bool            `json:"everyone,omitempty" doc:"Whoever administers anything."`
	Projects []SharedProject `json:"projects,omitempty" max:"100" doc:"The administrators of these projects."` // in the order of their keys
}

// SharedProject is a project whose administrators may choose a channel.
type SharedProject struct {
	Connection string `json:"connection,omitempty" doc:"Which platform; not needed when there is only one."`
	ProjectKey string `json:"projectKey" doc:"The project's key."`
}

func (p SharedProject) String() string { return p.Connection + "/" + p.ProjectKey }

func (p SharedProject) same(o SharedProject) bool {
	return p.Connection == o.Connection && Fold(p.ProjectKey) == Fold(o.ProjectKey)
}

// reaches reports whether the channel is shared with the principal.
func (s *Sharing) reaches(who *identity.Principal) bool {
	return s.Everyone && AdministersAny(who) || slices.ContainsFunc(s.Projects, func(p SharedProject) bool {
		return who.May(identity.ProjectAdmin, identity.Resource{Connection: p.Connection, Project: p.ProjectKey})
	})
}

// String returns "everyone" or the projects, for the audit trail; "" if the channel is
// shared with no one.
func (s Sharing) String() string {
	if s.Everyone {
		return "everyone"
	}
	names := make([]string, len(s.Projects))
	for i, p := range s.Projects {
		names[i] = p.String()
	}
	return strings.Join(names, ", ")
}

// AdministersAny reports whether the principal administers anything, and so can have
// rules and reports.
func AdministersAny(who *identity.Principal) bool { return who != nil && len(who.Grants) > 0 }

// normalize sorts the projects, names each once, and resolves their connections. It
// adds what is wrong to wrong, and then leaves the projects as they are.
func (s *Sharing) normalize(connections Connections, wrong *fault.Fields) {
	if s.Everyone && len(s.Projects) > 0 {
		wrong.Add("sharedWith", "Share the channel either with everyone or with named projects.")
		return
	}
	if len(s.Projects) > maxShares {
		wrong.Add("sharedWith", "These are %d projects; at most %d are allowed.", len(s.Projects), maxShares)
		return
	}
	var projects []SharedProject
	for _, p := range s.Projects {
		p, err := p.resolve(connections)
		if err != nil {
			wrong.Add("sharedWith", "%s", fault.As(err).Message)
			return
		}
		if !slices.ContainsFunc(projects, p.same) {
			projects = append(projects, p)
		}
	}
	slices.SortFunc(projects, func(a, b SharedProject) int { return strings.Compare(a.String(), b.String()) })
	s.Projects = projects
}

// resolve returns the project with the name of its connection and a valid key.
func (p SharedProject) resolve(connections Connections) (SharedProject, error) {
	connection, err := connections.Resolve(strings.TrimSpace(p.Connection))
	if err != nil {
		return p, err
	}
	key := strings.TrimSpace(p.ProjectKey)
	if key == "" {
		return p, fault.InvalidField("sharedWith", "Name the project's key.")
	}
	var wrong fault.Fields
	ValidateKey(&wrong, "sharedWith", key)
	return SharedProject{connection, key}, wrong.Err()
}
