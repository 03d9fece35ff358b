package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"image"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	totpTable, totpColumn = "identity_totp", "secret"

	// totpPeriod is the time step of RFC 6238, 5.2, and what apps take without
	// asking.
	totpPeriod = 30 * time.Second
	// totpSkew is how many steps a phone's clock may be off in either direction:
	// one, as RFC 6238, 5.2, recommends at most.
	totpSkew   = 1
	totpDigits = 6 // what every app shows
	// totpBytes are 160 bits, as RFC 4226, 4, recommends.
	totpBytes = 20
	// totpShownFor is how long a secret that was shown stays the one to be set up.
	totpShownFor = time.Hour
)

// App is an authenticator app that is being set up.
type App struct {
	Secret secret.Value // as it is typed into the app
	URI    secret.Value // otpauth://, as the app reads it
	QR     image.Image  // of the URI
}

// SetUpApp returns what the app of who asks has to know; UseApp ends it. Asked
// again within an hour it is the same. Conflict: there is an app already.
func (s *Service) SetUpApp(ctx context.Context) (App, error) {
	who, err := s.enrolling(ctx)
	if err != nil {
		return App{}, err
	}
	var plain []byte
	var u User
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if u, err = who.user(ctx, tx, s); err != nil {
			return err
		}
		if u.Factors.App {
			return fault.New(fault.Conflict, "You have an authenticator app already. Remove it before you set up another one.")
		}
		stored, err := totpOf(ctx, tx, u.ID)
		if err == nil && s.now().Sub(stored.created) < totpShownFor {
			plain, err = s.unsealTOTP(u.ID, stored.sealed)
			return err
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		plain = make([]byte, totpBytes)
		rand.Read(plain) // never fails
		return tx.Do(ctx, "storing an authenticator app",
			`INSERT INTO identity_totp (user_id, secret, created_at, confirmed_at, last_step) VALUES ($1, $2, $3, 0, 0)
			ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at`,
			u.ID, s.box.Seal(string(plain), totpTable, totpColumn, idText(u.ID)), db.Micros(s.now()))
	})
	if err != nil {
		return App{}, err
	}
	return s.appOf(u, plain)
}

func (s *Service) appOf(u User, plain []byte) (App, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: s.issuer, AccountName: u.Name, Secret: plain, Period: uint(totpPeriod.Seconds())})
	if err != nil {
		return App{}, fmt.Errorf("making the key of an authenticator app: %w", err)
	}
	const pixels = 240
	qr, err := key.Image(pixels, pixels)
	if err != nil {
		return App{}, fmt.Errorf("drawing the key of an authenticator app: %w", err)
	}
	return App{Secret: secret.New(key.Secret()), URI: secret.New(key.URL()), QR: qr}, nil
}

// UseApp makes the app that was set up a factor, where the code that it shows is
// right. recovery are the codes that were made with the first factor. Invalid: the
// code is wrong.
func (s *Service) UseApp(ctx context.Context, code secret.Value) (recovery []secret.Value, err error) {
	who, err := s.enrolling(ctx)
	if err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		recovery = nil
		u, err := who.user(ctx, tx, s)
		if err != nil {
			return err
		}
		stored, err := totpOf(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if u.Factors.App {
			return fault.New(fault.Conflict, "Your authenticator app is set up already.")
		}
		plain, err := s.unsealTOTP(u.ID, stored.sealed)
		if err != nil {
			return err
		}
		at, ok := stepOfCode(plain, plainCode(code), s.now())
		if !ok {
			return fault.InvalidField("code", "This is not the code that the app shows now. Check the clock of the phone, and enter the next code.")
		}
		if err := tx.Do(ctx, "storing an authenticator app",
			`UPDATE identity_totp SET confirmed_at = $2, last_step = $3 WHERE user_id = $1`, u.ID, db.Micros(s.now()),
			at); err != nil {
			return err
		}
		if recovery, err = firstRecovery(ctx, tx, u); err != nil {
			return err
		}
		s.changed(tx)
		return record(ctx, tx, "add authenticator app", "user", u.Ref(), nil, nil)
	})
	return recovery, err
}

// RemoveApp removes the app of who asks.
func (s *Service) RemoveApp(ctx context.Context) error {
	who, err := s.own(ctx)
	if err != nil {
		return err
	}
	return s.changeUser(ctx, who.Ref(), func(tx *db.Tx, u User) error {
		if !u.Factors.App {
			return fault.New(fault.NotFound, "You have no authenticator app.")
		}
		if err := tx.Do(ctx, "removing an authenticator app", `DELETE FROM identity_totp WHERE user_id = $1`, u.ID); err != nil {
			return err
		}
		s.changed(tx)
		if err := factorLess(ctx, tx, u.ID); err != nil {
			return err
		}
		return record(ctx, tx, "remove authenticator app", "user", u.Ref(), nil, nil)
	})
}

type storedTOTP struct {
	sealed   []byte
	created  time.Time
	lastStep int64
}

func totpOf(ctx context.Context, tx *db.Tx, user int64) (t storedTOTP, err error) {
	err = tx.FindOne(ctx, "reading an authenticator app", fault.New(fault.NotFound, "There is no authenticator app. Set one up."),
		[]any{&t.sealed, db.At(&t.created), &t.lastStep},
		`SELECT secret, created_at, last_step FROM identity_totp WHERE user_id = $1`, user)
	return t, err
}

func (s *Service) unsealTOTP(user int64, sealed []byte) ([]byte, error) {
	plain, err := s.box.Unseal(sealed, totpTable, totpColumn, idText(user))
	if err != nil {
		return nil, fmt.Errorf("reading the secret of an authenticator app: %w", err)
	}
	return []byte(plain), nil
}

// stepOfCode returns the time step that a code is of, among those that are allowed
// now. It takes as long for a wrong code as for a right one.
func stepOfCode(plain []byte, code string, now time.Time) (at int64, ok bool) {
	opts := totp.ValidateOpts{Period: uint(totpPeriod.Seconds()), Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}
	current := now.Unix() / int64(totpPeriod.Seconds())
	found := 0
	for i := current - totpSkew; i <= current+totpSkew; i++ {
		want, err := totp.GenerateCodeCustom(base32Of(plain), time.Unix(i*int64(totpPeriod.Seconds()), 0), opts)
		if err != nil {
			return 0, false
		}
		same := subtle.ConstantTimeCompare([]byte(want), []byte(code))
		at = int64(subtle.ConstantTimeSelect(same, int(i), int(at)))
		found |= same
	}
	return at, found == 1
}

// acceptCode takes the code of a time step, and none of that step or before ever
// again, on any node.
func acceptCode(ctx context.Context, tx *db.Tx, user, at int64) error {
	return tx.ChangeOne(ctx, "storing that a code was used", errWrongFactor,
		`UPDATE identity_totp SET last_step = $2 WHERE user_id = $1 AND last_step < $2 AND confirmed_at > 0`, user, at)
}
