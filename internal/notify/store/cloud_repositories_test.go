package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// The repositories of the cloud edition are those with rules, with hooks and with
// permissions of who asks, in pages, each once, and each to who administers it.
func TestCloudRepositories(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		s.UsePlatforms(notify.Connections{
			{Name: "dc", Kind: "bitbucket-dc"}, {Name: "cloud", Kind: notify.KindBitbucketCloud}, {Name: "second", Kind: notify.KindBitbucketCloud},
		}, store.Decoders)
		if err := s.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		rule := func(connection, workspace, repository string, enabled bool, authorization int64) {
			r := store.SomeRule("r")
			r.Connection, r.ProjectKey, r.RepositoryKey, r.Enabled, r.AuthorizationID = connection, workspace, repository, enabled, authorization
			store.Save(t, s, r, store.FlowURL("a"))
		}
		err := s.DB().Write(t.Context(), func(tx *db.Tx) error {
			for id, state := range map[int]string{1: "active", 2: "withdrawn", 3: "revoked"} {
				if _, err := tx.Exec(t.Context(), `INSERT INTO notify_authorizations (id, connection, account_id, account_name, base_url, user_id, authorized_by,
					authorized_at, state, state_at, reason, tokens, expires_at, refreshed_at, due_at, asked_at)
					VALUES ($1, 'cloud', $2, $2, '', 1, 'ada', 1, $3, 1, '', 1, 1, 1, 0, 0)`, id, fmt.Sprint("account ", id), state); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rule("cloud", "atlas", "engine", true, 1)
		rule("cloud", "Atlas", "Engine", false, 2)
		rule("second", "atlas", "engine", true, 0)
		rule("cloud", "bay", "oar", true, 2)
		rule("dc", "ATL", "canoe", true, 0)
		for _, at := range []notify.Scope{{ProjectKey: "atlas", RepositoryKey: "engine"}, {ProjectKey: "atlas", RepositoryKey: "hull"}, {ProjectKey: "bay"}} {
			if _, err := s.CreateHook(t.Context(), store.Ada, notify.Hook{Connection: "cloud", Name: strings.ToLower(at.ProjectKey + at.RepositoryKey), Scope: at}); err != nil {
				t.Fatal(err)
			}
		}
		rules := &admin.Rules{Store: s}
		list := func(limit int, grants ...identity.Grant) (out []string) {
			t.Helper()
			ctx := identity.With(context.WithoutCancel(t.Context()), &identity.Principal{Name: "x", Grants: grants})
			var after notify.RuleQuery
			for {
				page, err := rules.CloudRepositories(ctx, after, limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range page {
					line := fmt.Sprintf("%s:%s/%s %d of %d", r.Connection, strings.ToLower(r.Workspace), strings.ToLower(r.Repository), r.Enabled, r.Rules)
					if r.Unauthorized > 0 {
						line += fmt.Sprintf(", %d unauthorised", r.Unauthorized)
					}
					if r.Hook {
						line += ", hook"
					}
					out = append(out, line)
					after = notify.RuleQuery{Connection: r.Connection, ProjectKey: r.Workspace, RepositoryKey: r.Repository}
				}
				if len(page) < limit {
					return out
				}
			}
		}
		all := []string{
			"cloud:atlas/engine 1 of 2, 1 unauthorised, hook", "second:atlas/engine 1 of 1", "cloud:atlas/hull 0 of 0, hook", "cloud:bay/oar 1 of 1, 1 unauthorised",
		}
		at := func(connection, workspace, repository string) identity.Resource {
			return identity.Resource{Connection: connection, Project: workspace, Repository: repository}
		}
		for name, c := range map[string]struct {
			grants []identity.Grant
			want   []string
		}{
			"all":         {[]identity.Grant{{Permission: identity.Admin}}, all},
			"workspace":   {[]identity.Grant{{Permission: identity.ProjectAdmin, Resource: at("cloud", "ATLAS", "")}}, []string{all[0], all[2]}},
			"repository":  {[]identity.Grant{{Permission: identity.RepoAdmin, Resource: at("cloud", "atlas", "Hull")}}, []string{all[2]}},
			"without any": {[]identity.Grant{{Permission: identity.RepoAdmin, Resource: at("cloud", "cove", "net")}}, []string{"cloud:cove/net 0 of 0"}},
			"self-hosted": {[]identity.Grant{{Permission: identity.RepoAdmin, Resource: at("dc", "ATL", "canoe")}}, nil},
			"nobody":      {nil, nil},
		} {
			for _, limit := range []int{1, 2, 50} {
				if got := list(limit, c.grants...); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
					t.Errorf("%s by %d:\n%s\nwant\n%s", name, limit, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			}
		}
	})
}
