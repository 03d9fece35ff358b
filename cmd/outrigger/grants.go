package main

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/identity"
)

// grantsText writes grants as "3: REPO_ADMIN main/ALPHA/api, 7: ADMIN".
func grantsText(grants []identity.Grant) string {
	var parts []string
	for _, g := range grants {
		text := fmt.Sprintf("%d: %s", g.ID, g.Permission)
		if place := strings.Trim(g.Connection+"/"+g.Project+"/"+g.Repository, "/"); place != "" {
			text += " " + place
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// resourceFlags say what a permission is granted for.
type resourceFlags struct {
	Connection string `help:"The connection that the project belongs to." placeholder:"C"`
	Project    string `help:"The project's key." placeholder:"K"`
	Repository string `help:"The repository's key." placeholder:"S"`
}

func (f resourceFlags) resource() identity.Resource {
	return identity.Resource{Connection: f.Connection, Project: f.Project, Repository: f.Repository}
}

// grant has give grant a permission, and prints the grant.
func (f accountFlags) grant(ctx context.Context, s streams, give func(context.Context, accounts) (identity.Grant, error)) error {
	return f.with(ctx, s, func(ctx context.Context, a accounts) error {
		g, err := give(ctx, a)
		if err != nil {
			return err
		}
		return s.say(f.JSON, g, "%s", grantsText([]identity.Grant{g}))
	})
}
