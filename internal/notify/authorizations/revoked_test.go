package authorizations

import (
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/secret"
)

// What one node revokes or deletes while another asks the platform for new tokens
// stays so: the tokens that come are neither kept nor used. Authorised again
// meanwhile, those of the person's own consent are used.
func TestRevokedWhileATokenIsRefreshed(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(n *node, id int64)
		wrong     fault.Code // of the call that waits; "": none
		state     notify.AuthorizationState
		tokens    int64
	}{
		"revoked":          {func(n *node, id int64) { n.must(n.api.Revoke(n.as(1), id)) }, fault.Conflict, notify.AuthorizationRevoked, 1},
		"authorised again": {func(n *node, _ int64) { n.authorize(1, ana) }, "", notify.AuthorizationActive, 2},
		"its user deleted": {func(n *node, _ int64) { n.becomes(1, identity.UserDeleted); n.round() }, fault.Conflict, notify.AuthorizationWithdrawn, 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.Postgres(t, secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations)
			if err := d.Migrate(t.Context(), secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, d, bitbucketcloud.Options{})
			n, other := w.node("node_1"), w.node("node_2")
			a := n.authorize(1, ana)
			slow := &waiting{n.Service.Platform, make(chan struct{}), make(chan struct{})}
			n.Service.Platform = slow
			w.pass(2 * time.Hour)
			used := false
			var asking sync.WaitGroup
			asking.Go(func() {
				err := n.Use(t.Context(), a.ID, func(*notify.Connection, secret.Value) error { used = true; return nil })
				if fault.CodeOf(err) != c.wrong && (err != nil || c.wrong != "") {
					t.Errorf("the call that waited: %v", err)
				}
			})
			<-slow.asked
			c.meanwhile(other, a.ID)
			close(slow.answer)
			asking.Wait()
			if used != (c.wrong == "") {
				t.Errorf("the platform is called: %t", used)
			}
			now, tokens, err := other.store.AccountTokens(t.Context(), a.ID)
			if err != nil || now.State != c.state || now.Tokens != c.tokens || tokens.Access.IsZero() != (c.state != notify.AuthorizationActive) {
				t.Errorf("%+v, %v", now, err)
			}
		})
	}
}

func (n *node) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}
