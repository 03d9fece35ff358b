package app

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
	"outrigger/internal/threads/api"
)

// A stream of the REST API ends at its next turn when the user who reads it is
// disabled, or loses the permission.
func TestStreamOfADisabledUserEnds(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	ctx := t.Context()
	for name, end := range map[string]func(user string, grant int64) error{
		"disabled": func(user string, _ int64) error { return a.identity.DisableUser(ctx, user) },
		"revoked":  func(user string, grant int64) error { return a.identity.Revoke(ctx, user, grant) },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := a.identity.CreateUser(ctx, name, secret.New(password)); err != nil {
				t.Fatal(err)
			}
			grant, err := a.identity.Grant(ctx, name, identity.SysAdmin, identity.Resource{})
			if err != nil {
				t.Fatal(err)
			}
			token, _, err := a.identity.CreateToken(ctx, name, "stream", identity.Read, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(ctx, "GET", a.URL()+api.MigrationPath+"/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token.Reveal())
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			if resp.StatusCode != 200 || !lines.Scan() || !strings.HasPrefix(lines.Text(), "data: ") {
				t.Fatalf("%d, it begins with %q", resp.StatusCode, lines.Text())
			}
			if err := end(name, grant.ID); err != nil {
				t.Fatal(err)
			}
			over := make(chan struct{})
			go func() {
				defer close(over)
				for lines.Scan() {
				}
			}()
			select {
			case <-over:
			case <-time.After(15 * time.Second): // a beat is after 20
				t.Error("the stream goes on")
				resp.Body.Close()
				<-over
			}
		})
	}
}
