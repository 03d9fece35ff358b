package webhooks

import (
	"net/http/httptest"
	"slices"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// What signs for one server is not told another when the base URL
// changes: the webhooks there get hooks of their own.
func TestAnotherServerIsToldOtherSecrets(t *testing.T) {
	eachWorld(t, bitbucket.Options{Projects: []bitbucket.Project{{Key: "ATL"}}}, func(t *testing.T, w *world) {
		ada := notify.Actor{Name: "ada", Source: "local"}
		c, _, err := w.store.CreateConnection(t.Context(), ada, notify.Connection{Name: "moving", Kind: "bitbucket-dc", BaseURL: w.url, Token: secret.New("right"), ManageWebhooks: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		made, err := w.store.CreateHook(t.Context(), ada, notify.Hook{Connection: "moving", Name: "atl", Scope: notify.Scope{ProjectKey: "ATL"}})
		if err != nil {
			t.Fatal(err)
		}
		told := func(p *playgroundtest.Bitbucket) (secrets []string) {
			t.Helper()
			if err := w.store.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.round(checkEvery)
			for _, one := range p.Webhooks("ATL") {
				if _, ok := notify.HookCalled(base, "moving", one.URL); ok {
					secrets = append(secrets, one.Secret)
				}
			}
			return secrets
		}
		known := []string{made.Secret.Reveal()}
		if got := told(w.Bitbucket); !slices.Equal(got, known) {
			t.Fatalf("the server that it was made for is told %q", got)
		}
		for range 3 {
			other := playgroundtest.NewBitbucket(bitbucket.Options{Token: "right", Clock: w.clock, Projects: []bitbucket.Project{{Key: "ATL"}}})
			server := httptest.NewServer(other.Handler())
			t.Cleanup(server.Close)
			c.BaseURL, c.Token, c.Version = server.URL, secret.New("right"), 0
			if c, err = w.store.SaveConnection(t.Context(), ada, c, nil, nil); err != nil {
				t.Fatal(err)
			}
			got := told(other)
			if len(got) != 1 || slices.Contains(known, got[0]) {
				t.Fatalf("another server is told %q, of %q", got, known)
			}
			known = append(known, got...)
		}
	})
}
