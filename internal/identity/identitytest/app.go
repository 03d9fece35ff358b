package identitytest

import (
	"context"
	"fmt"
	"time"

	"github.com/pquerna/otp/totp"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// Cost is that of passwords in tests, a thousandth of what it should be: under the race
// detector a usual one takes a third of a second.
var Cost = identity.PasswordCost{Memory: 64, Rounds: 1}

// App is a phone with an authenticator app.
type App struct {
	Recovery []string // codes
	Secret   string   // in base32
}

// SetUp sets an app up for a user, with the code of half a minute ago, so that
// the present one may still be used.
func SetUp(ctx context.Context, s *identity.Service, user string, now func() time.Time) (App, error) {
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
	code, err := a.Code(-1, now)
	if err != nil {
		return a, err
	}
	recovery, err := s.UseApp(ctx, secret.New(code))
	for _, c := range recovery {
		a.Recovery = append(a.Recovery, c.Reveal())
	}
	return a, err
}

const (
	appStep = 30 * time.Second // RFC 6238, 5.2
	// codeLasts is what is left of a time step when Code returns: a test on a
	// busy machine uses the code within it.
	codeLasts = 5 * time.Second
)

// Code returns what the app shows a number of time steps from now. Where the
// present step is about to end it waits for the next one, so that a code of the
// step before is not refused as older by the time it is used.
func (a App) Code(steps int, now func() time.Time) (string, error) {
	at := now()
	if left := appStep - time.Duration(at.UnixNano())%appStep; left < codeLasts {
		time.Sleep(left)
		at = now()
	}
	code, err := totp.GenerateCode(a.Secret, at.Add(time.Duration(steps)*appStep))
	if err != nil {
		return "", fmt.Errorf("showing a code: %w", err)
	}
	return code, nil
}
