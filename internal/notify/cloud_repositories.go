package notify

import (
	"cmp"
	"time"

	"outrigger/internal/identity"
)

// CloudRepository is a repository of the cloud edition that is known here.
type CloudRepository struct {
	Connection, Workspace, Repository string

	Rules, Enabled int
	Unauthorized   int       // rules whose account has to be authorised again
	UnauthorizedAt time.Time // since when
	Hook           bool      // it has a hook of its own
	Webhook        WebhookState
}

func (r *CloudRepository) Resource() identity.Resource {
	return identity.Resource{Connection: r.Connection, Project: r.Workspace, Repository: r.Repository}
}

// CompareRepositories is the order of the list.
func CompareRepositories(a, b CloudRepository) int {
	return cmp.Or(cmp.Compare(Fold(a.Workspace), Fold(b.Workspace)), cmp.Compare(Fold(a.Repository), Fold(b.Repository)),
		cmp.Compare(a.Connection, b.Connection))
}

// CloudRepositoryPage asks for repositories that have rules.
type CloudRepositoryPage struct {
	Connections []string
	After       CloudRepository // the last one of the page before; zero: none
	Limit       int
	Visible     func(*CloudRepository) bool // those that it refuses are passed over
}
