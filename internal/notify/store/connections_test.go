package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// history is what tells of a connection that is gone.
var history = []string{"notify_events", "notify_rule_versions", "audit_entries"}

// remains are rows by which a connection goes on, in every table that has some
// besides those of its rules and reports, without which it can be deleted.
var remains = map[string]string{
	"notify_renames": `INSERT INTO notify_renames (connection, hook_id, hook, from_project, from_repository, from_fold, to_project, to_repository, reason, state, offered_at, decided_by, decided_at)
		VALUES ($1, 1, '', 'A', '', 'a', 'B', '', 'scope', 'offered', 1, '', 0)`,
	"notify_memberships":            `INSERT INTO notify_memberships (connection, group_name, user_name, member, asked_at) VALUES ($1, 'g', 'u', 1, 1)`,
	"notify_chat_accounts":          `INSERT INTO notify_chat_accounts (connection, user_fold, user_name, teams, slack, updated_by, updated_at) VALUES ($1, 'u', 'u', 't', '', 'ada', 1)`,
	"notify_authorization_requests": `INSERT INTO notify_authorization_requests (state, connection, user_id, session_id, verifier, back, made_at, expires_at) VALUES ('state of ' || $1, $1, 1, 0, (SELECT secret FROM notify_hooks LIMIT 1), '', 1, 1)`,
	"notify_authorizations": `INSERT INTO notify_authorizations (connection, account_id, account_name, base_url, user_id, authorized_by, authorized_at, state, state_at, reason, tokens, expires_at, refreshed_at, due_at, asked_at)
		VALUES ($1, 'a', 'a', 'https://x', 1, 'ada', 1, 'active', 1, '', 1, 1, 1, 0, 0)`,
	"notify_refusals":       `INSERT INTO notify_refusals (connection, hook, reason, hour, times, first_at, last_at, last_by, message) VALUES ($1, '', 'scope', 1, 1, 1, 1, '', '')`,
	"notify_project_checks": `INSERT INTO notify_project_checks (connection, tried_at, listed_at, reason) VALUES ($1, 1, 1, '')`,
	"notify_webhooks": `INSERT INTO notify_webhooks (connection, project_fold, project_key, project_name, seen_at, project_id, state, hook, remote_id, successes, failures, last_success, last_failure, answer, reason, set_at, secret_mark, checked_at)
		VALUES ($1, 'a', 'A', 'A', 1, 1, 'sends', '', 1, 1, 0, 1, 0, '', '', 1, '', 1)`,
	"notify_repository_webhooks": `INSERT INTO notify_repository_webhooks (connection, project_fold, repository_fold, state, hook, remote_id, reason, set_at, secret_mark, checked_at, authorization_id) VALUES ($1, 'a', 'r', 'sends', '', '', '', 1, '', 1, 0)`,
	"notify_commits":             `INSERT INTO notify_commits (connection, hash, project_key, repository_key, project_fold, repository_fold, branch, named_at, due_at, asked) VALUES ($1, 'h', 'A', 'R', 'a', 'r', 'main', 1, 1, 0)`,
	"notify_builds":              `INSERT INTO notify_builds (connection, project_fold, repository_fold, hash, build_key, state, url, number, posted_at, asked_at, stood_at, seen_at) VALUES ($1, 'a', 'r', 'h', 'k', 'FAILED', '', '', 0, 0, 1, 1)`,
	"notify_pull_requests":       `INSERT INTO notify_pull_requests (connection, project_fold, repository_fold, number, source, target, title, description, draft, pushed, stood_at, seen_at) VALUES ($1, 'a', 'r', 1, 's', 't', 'T', '', 0, 0, 1, 1)`,
	"notify_channel_shares": `INSERT INTO notify_channel_shares (channel_id, connection, project_key, project_fold)
		SELECT min(id), $1, 'A', 'a' FROM notify_channels`,
	"identity_grants": `INSERT INTO identity_grants (user_id, group_name, permission, connection, project, repository, granted_at) SELECT id, '', 'REPO_ADMIN', $1, 'A', 'R', 1 FROM identity_users`,
}

// tablesWithConnection lists the tables that have the name of a connection.
func tablesWithConnection(t *testing.T, s *Store) []string {
	t.Helper()
	q := `SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'connection'`
	if s.db.Dialect() == db.Postgres {
		q = `SELECT table_name FROM information_schema.columns WHERE column_name = 'connection' AND table_schema = current_schema()`
	}
	var names []string
	err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), q)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// another makes the connection "second".
func another(t *testing.T, s *Store) {
	t.Helper()
	c := notify.Connection{Name: "second", Kind: "bitbucket-dc", BaseURL: "https://code.example.com"}
	if _, _, err := s.CreateConnection(t.Context(), ada, c, nil); err != nil {
		t.Fatal(err)
	}
}

// put writes a row of a table for a connection.
func put(t *testing.T, s *Store, table, connection string) {
	t.Helper()
	if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), remains[table], connection)
		return err
	}); err != nil {
		t.Fatal(table, err)
	}
}

func rowsOfConnection(t *testing.T, s *Store, table, connection string) int {
	t.Helper()
	return count(t, s, fmt.Sprintf(`SELECT count(*) FROM %s WHERE connection = '%s'`, table, connection))
}

// Of a connection that is deleted only history is left, so that another one of its
// name begins anew, with what users may do there too.
func TestADeletedConnectionLeavesOnlyHistory(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if _, err := identity.New(s.db, identity.Options{}).CreateUser(t.Context(), "ann", secret.New("correct horse battery staple")); err != nil {
			t.Fatal(err)
		}
		another(t, s)
		save(t, s, someRule("one"), flowURL("a")) // whose channel is shared
		for table := range remains {
			put(t, s, table, "second")
			put(t, s, table, "dc")
		}
		ctx := identity.With(t.Context(), &identity.Principal{Name: "ada"})
		if err := s.DeleteConnection(ctx, ada, "second", 0); err != nil {
			t.Fatal(err)
		}
		known := append(slices.Collect(maps.Keys(remains)), "notify_rules", "notify_reports", "notify_hooks")
		for _, table := range tablesWithConnection(t, s) {
			if slices.Contains(history, table) {
				continue
			}
			if !slices.Contains(known, table) {
				t.Errorf("the test does not know %s", table)
			}
			if n := rowsOfConnection(t, s, table, "second"); n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
			if n := rowsOfConnection(t, s, table, "dc"); n != 1 && remains[table] != "" {
				t.Errorf("%d rows of another connection are in %s", n, table)
			}
		}
		if n := count(t, s, `SELECT count(*) FROM audit_entries WHERE action = 'revoke' AND object_id = 'ann' AND who = 'ada'`); n != 1 {
			t.Errorf("%d entries tell of the permission that is gone", n)
		}
	})
}

// What a platform answers after its connection was deleted does not come to
// another connection of that name.
func TestALateAnswerIsNotInherited(t *testing.T) {
	answers := []string{"notify_memberships", "notify_webhooks", "notify_project_checks", "notify_repository_webhooks", "notify_commits", "notify_builds", "notify_pull_requests", "notify_refusals"}
	eachStore(t, func(t *testing.T, s *Store) {
		for _, table := range answers {
			put(t, s, table, "second")
		}
		another(t, s)
		for _, table := range answers {
			if n := rowsOfConnection(t, s, table, "second"); n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
	})
}

// A webhook that is refused since its hook was deleted after it was matched leaves
// nothing.
func TestARefusedWebhookLeavesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := cameBy(hookOf(t, s, "own", "atlas", ""), updateSpoken("w", "a1", 0))
		r.Match(s.Rules())
		if err := encode(r, new(bytes.Buffer)); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteHook(t.Context(), ada, "dc", "own"); err != nil {
			t.Fatal(err)
		}
		if err := s.db.Write(t.Context(), func(tx *db.Tx) error { return s.writeReceipts(t.Context(), tx, []*notify.Receipt{r}) }); err != nil {
			t.Fatal(err)
		}
		if !fault.Is(r.Refusal, fault.NotFound) {
			t.Errorf("it is not refused: %v", r.Refusal)
		}
		for _, table := range []string{"notify_events", "notify_pull_requests"} {
			if n := rowsOfConnection(t, s, table, "dc"); n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
	})
}

// A webhook that an earlier connection of the same name took is new to this one.
func TestAConnectionMadeAgainHasSeenNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		take := func() *notify.Receipt {
			another(t, s)
			own, _ := s.Platforms().Hook("second", "")
			r := webhook("id", *pushedTo("ATL", "canoe", "main", "ada"))
			r.Connection, r.Events[0].Connection = "second", "second"
			return accept(t, s, cameBy(*own, r))
		}
		take()
		again := webhook("id", *pushedTo("ATL", "canoe", "main", "ada"))
		own, _ := s.Platforms().Hook("second", "")
		again.Connection = "second"
		if r := accept(t, s, cameBy(*own, again)); !r.Duplicate {
			t.Error("the same webhook is taken twice")
		}
		if err := s.DeleteConnection(t.Context(), ada, "second", 0); err != nil {
			t.Fatal(err)
		}
		if r := take(); r.Duplicate {
			t.Errorf("it is taken for event %d of the connection before", r.DuplicateOf)
		}
	})
}
