package store

import (
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// What was entered for one server is not sent to another when the base URL
// changes: the secrets have to be entered again.
func TestSecretsDoNotFollowTheBaseURL(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		s.UsePlatforms(nil, map[string]notify.Decoder{"bitbucket-dc": decoders["bitbucket-dc"], notify.KindBitbucketCloud: decoders["bitbucket-dc"]})
		stored := notify.Connection{
			Name: "cloud", Kind: notify.KindBitbucketCloud, BaseURL: "https://code.example.com", Token: secret.New("the-token"),
			OAuthClientID: "key", OAuthClientSecret: secret.New("the-client-secret"),
		}
		if _, _, err := s.CreateConnection(t.Context(), ada, stored, nil); err != nil {
			t.Fatal(err)
		}
		move := func(to string, token, client string) (notify.Connection, error) {
			c := stored
			c.BaseURL, c.Token, c.OAuthClientSecret = to, secret.New(token), secret.New(client)
			return s.SaveConnection(t.Context(), ada, c, nil, nil)
		}
		for _, to := range []string{
			"http://code.example.com", "https://code.example.com:8443", "https://code.example.com.evil.example", "https://evil.example/code.example.com",
		} {
			_, err := move(to, "", "")
			if !fault.Is(err, fault.Invalid) || !strings.Contains(fieldsOf(err), "token oauthClientSecret") {
				t.Errorf("%s: %v (%s)", to, err, fieldsOf(err))
			}
			if _, err := move(to, "another", ""); fieldsOf(err) != "oauthClientSecret" {
				t.Errorf("%s with a token: %v (%s)", to, err, fieldsOf(err))
			}
			if _, err := move(to, "", "another"); fieldsOf(err) != "token" {
				t.Errorf("%s with a client's secret: %v (%s)", to, err, fieldsOf(err))
			}
		}
		if err := s.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := s.Platforms().Connections.Find("cloud"); now.BaseURL != stored.BaseURL || now.Token.Reveal() != "the-token" {
			t.Errorf("after what was refused it is %+v", now)
		}
		for _, to := range []string{"https://CODE.example.com:443/bitbucket", "https://code.example.com/"} {
			saved, err := move(to, "", "")
			if err != nil || saved.Token.Reveal() != "the-token" || saved.OAuthClientSecret.Reveal() != "the-client-secret" {
				t.Errorf("%s, the same server: %+v, %v", to, saved, err)
			}
		}
		if saved, err := move("https://other.example.com", "another", "another"); err != nil || saved.Token.Reveal() != "another" {
			t.Errorf("with its secrets: %+v, %v", saved, err)
		}
	})
}

func fieldsOf(err error) string {
	if err == nil {
		return ""
	}
	var names []string
	for _, f := range fault.As(err).Fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}
