package identity

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	// signInTime is how long a user may take on the provider's pages: to sign in
	// there, with a second factor.
	signInTime = 10 * time.Minute
	// maxSignIns is how many sign-ins of an address may be open; of more, the
	// oldest are dropped. It is as many as people of one office begin within
	// minutes, and little to store.
	maxSignIns = 200
	// maxBack is the longest address to come back to: longer ones are not pages of
	// ours that people were on.
	maxBack = 2048
)

// BrowserSecret makes what a browser's cookie holds while it signs in.
func BrowserSecret() string { return secret.Random(secretBytes) }

// IsBrowserSecret reports whether a cookie holds what BrowserSecret made, as far as
// can be seen.
func IsBrowserSecret(text string) bool { return len(text) == len(BrowserSecret()) }

// SignInRequest is what a browser begins to sign in with.
type SignInRequest struct {
	Way     string // the id
	Browser string // the secret in its cookie
	Back    string // the page to come back to
	Address string
	Again   bool // a user who has signed in already is to show it once more
}

// BeginSignIn notes that a browser begins to sign in, and returns the provider's page
// that it goes to. NotFound: there is no such way. Unavailable: the provider does
// not answer.
func (s *Service) BeginSignIn(ctx context.Context, r SignInRequest) (location string, err error) {
	w := s.signInProvider(r.Way)
	if w == nil {
		return "", fault.New(fault.NotFound, "There is no way to sign in called %q.", r.Way)
	}
	r.Again = r.Again && w.Reconfirms
	p := proofsOf(r.Browser, secret.Random(secretBytes))
	p.Again = r.Again
	if location, err = w.Location(ctx, p); err != nil {
		s.log.WarnContext(ctx, "sign-in cannot begin", "way", w.ID, "address", r.Address, "error", err)
		return "", err
	}
	if len(r.Back) > maxBack {
		r.Back = "/"
	}
	now, address := s.now(), attemptOf("", r.Address).address
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(ctx, "dropping old sign-ins", `DELETE FROM identity_sign_ins WHERE expires_at <= $1
			OR state IN (SELECT state FROM identity_sign_ins WHERE address = $2 ORDER BY made_at DESC, state LIMIT $3 OFFSET $4)`,
			db.Micros(now), address, maxSignIns, maxSignIns-1); err != nil {
			return err
		}
		return tx.Do(ctx, "noting a sign-in", `INSERT INTO identity_sign_ins (state, way, browser, back, address, made_at, expires_at, again)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			secret.Fingerprint(p.State), w.ID, secret.Fingerprint(r.Browser), r.Back, address, db.Micros(now), db.Micros(now.Add(signInTime)),
			db.Bit(r.Again))
	})
	return location, err
}

// begun is a sign-in that a browser began.
type begun struct {
	back  string // the page to come back to
	at    time.Time
	again bool // to confirm a session
}

// takeSignIn returns a sign-in that this browser began and that is not over; it is
// gone after that.
func (s *Service) takeSignIn(ctx context.Context, way, browser, state string) (b begun, err error) {
	none := fault.New(fault.Invalid, "This sign-in was not begun in this browser, was already used, or took longer than 10 minutes. "+
		"Start again.")
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		return tx.FindOne(ctx, "taking a sign-in", none, []any{&b.back, db.At(&b.at), &b.again}, `DELETE FROM identity_sign_ins
			WHERE state = $1 AND way = $2 AND browser = $3 AND expires_at > $4 RETURNING back, made_at, again`,
			secret.Fingerprint(state), way, secret.Fingerprint(browser), db.Micros(s.now()))
	})
	return b, err
}
