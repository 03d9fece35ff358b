package identitytest

import (
	"context"
	"fmt"
	"time"

	"github.com/pquerna/otp/totp"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// App is a phone with an authenticator app.
type App struct {
	Recovery []string // codes
	Secret   string   // in base32
}

// SetUp sets an app up for a user, with the code of half a minute ago, so that
// the present one may still be used.
func SetUp(ctx context.Context, s *identity.Service, user string, now time.Time) (App, error) {
	u, err := s.User(ctx, user)
	if err != nil {
		return App{}, fmt.Errorf("reading the user: %w", err)
	}
	ctx = identity.With(ctx, &identity.Principal{UserID: u.ID, Name: u.Name, Source: u.Source, Scope: identity.All})
	made, err := s.SetUpApp(ctx)
	if err != nil {
		return App{}, fmt.Errorf("setting up an app: %w", err)
	}
	a := App{Secret: made.Secret.Reveal()}
	code, err := a.Code(now.Add(-30 * time.Second))
	if err != nil {
		return a, err
	}
	recovery, err := s.UseApp(ctx, secret.New(code))
	for _, c := range recovery {
		a.Recovery = append(a.Recovery, c.Reveal())
	}
	return a, err
}

// Code is what the app shows.
func (a App) Code(now time.Time) (string, error) {
	code, err := totp.GenerateCode(a.Secret, now)
	if err != nil {
		return "", fmt.Errorf("showing a code: %w", err)
	}
	return code, nil
}
