package client

import (
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

func TestVersion(t *testing.T) {
	p := play(t, bitbucketcloud.Options{})
	p.c.Kind = notify.KindBitbucketCloud
	ask := func() (string, error) { return p.Version(t.Context(), p.c) }
	if got, err := ask(); got != "Bitbucket Cloud" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	p.c.OAuthClientSecret = secret.New("mistyped")
	_, err := ask()
	p.says(t, err, "Invalid OAuth client credentials. Check the connection's OAuth client id and secret.")
	p.c.OAuthClientID, p.c.OAuthClientSecret = "", secret.Value{}
	if got, err := ask(); got != "Bitbucket Cloud" || err != nil {
		t.Errorf("no client: %q, %v", got, err)
	}
	if n := p.platform.Asked("access_token"); n != 3 { // one for the account of the test
		t.Errorf("it asked for tokens %d times", n)
	}
	for kind, want := range map[playgroundtest.Kind]string{
		playgroundtest.Missing: "404 Not Found", playgroundtest.Proxied: "is not the platform", playgroundtest.Redirecting: "Check the base URL",
		playgroundtest.Endless: "pages that do not end", playgroundtest.Nulling: "offers none of the events",
	} {
		p.platform.SetFault("", playgroundtest.Fault{Kind: kind})
		_, err := p.Version(t.Context(), &notify.Connection{Name: string(kind), BaseURL: p.c.BaseURL, Token: secret.New("unused")})
		if err == nil {
			t.Errorf("%s is taken for the platform", kind)
			continue
		}
		p.c.OAuthClientSecret = secret.New("s3cret&+ %") // says looks for it
		p.says(t, err, want)
	}
}
