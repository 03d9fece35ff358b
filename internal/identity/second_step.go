package identity

import (
	"context"
	"errors"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// FactorNeeded is the error of SignIn where the password is right and a second
// factor is asked for. To who does not know it, it is Unauthenticated.
type FactorNeeded struct {
	Pending string // what SecondStep takes; only the browser keeps it
}

func (e *FactorNeeded) Error() string { return "a second factor is needed" }

// Unwrap makes it Unauthenticated.
func (e *FactorNeeded) Unwrap() error {
	return fault.New(fault.Unauthenticated, "Show a second factor as well.")
}

// errPasswordAlone is the answer to a right password where no second factor can
// be shown.
func errPasswordAlone() error {
	return fault.New(fault.Forbidden, "This user signs in with a second factor, so that the password alone is refused here. "+
		"Send a code of it as well (the header Outrigger-Code, --code on the command line), or use a token, which the console makes under "+
		"Your account.")
}

// errWrongFactor is that what was shown is not right, or was used already.
var errWrongFactor = errors.New("wrong second factor")

// accept uses up a second factor that is right, with what it was shown for.
type accept func(ctx context.Context, tx *db.Tx) error

// AskedFactors are the factors that a sign-in which waits for its second step can
// be ended with. Unauthenticated, with ErrStepOver as the cause: it waits no more.
func (s *Service) AskedFactors(ctx context.Context, pending string) (Factors, error) {
	_, u, err := s.waiting(ctx, pending)
	return u.Factors, err
}

// waiting is a sign-in that waits for its second step, and whose it is.
func (s *Service) waiting(ctx context.Context, pending string) (st step, u User, err error) {
	if st, err = s.stepOf(ctx, pending, forFactor); err != nil {
		return st, u, err
	}
	u, err = db.Read(ctx, s.db, func(tx *db.Tx) (User, error) { return userByID(ctx, tx, st.user) })
	if fault.Is(err, fault.NotFound) || err == nil && u.Disabled() {
		err = errStepOver()
	}
	return st, u, err
}

// SecondStep opens a session for a sign-in whose password was right, when the
// second factor is. Unauthenticated: it is not, or, with ErrStepOver as the cause,
// the sign-in waits no more. RateLimited comes after too many failures, as for
// passwords.
func (s *Service) SecondStep(ctx context.Context, pending string, proof Proof, addr string) (session string, p *Principal, err error) {
	_, u, err := s.waiting(ctx, pending)
	if err != nil {
		return "", nil, err
	}
	d := attemptOf(nameKey(u.Name), addr)
	if err := s.mayTry(ctx, d); err != nil {
		return "", nil, err
	}
	st, err := s.tryStep(ctx, pending, forFactor)
	if err != nil {
		return "", nil, err
	}
	accepted, err := s.checkFactor(ctx, u, d, st, proof)
	if err == nil {
		session, p, err = s.enter(ctx, u, st, accepted, addr)
	}
	if errors.Is(err, errWrongFactor) {
		return "", nil, s.wrongFactor(ctx, d)
	}
	if err != nil {
		return "", nil, err
	}
	return session, p, s.countSuccess(ctx, d, u)
}

// enter opens the session of a sign-in that ends with a factor.
func (s *Service) enter(ctx context.Context, u User, st step, accepted accept, addr string) (session string, p *Principal, err error) {
	p = u.principal()
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := accepted(ctx, tx); err != nil {
			return err
		}
		if err := endStep(ctx, tx, st); err != nil {
			return err
		}
		if p.Grants, err = grantsOf(ctx, tx, u.ID); err != nil {
			return err
		}
		session, p.Session, err = s.openSession(ctx, tx, u, proved{st.way(), s.now()}, addr)
		if fault.Is(err, fault.Unauthenticated) { // disabled meanwhile
			err = errStepOver()
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	p.ConfirmedAt = s.now()
	s.log.InfoContext(ctx, "signed in with a second factor", "user", u.Name, "address", addr)
	return session, p, nil
}

// checkFactor reports whether a factor of the user is right, and how it is used up.
func (s *Service) checkFactor(ctx context.Context, u User, d attempt, st step, proof Proof) (accept, error) {
	if len(proof.Passkey) > 0 {
		return s.checkPasskey(ctx, u, st, proof.Passkey)
	}
	return s.checkCode(ctx, u, d, proof.Code)
}

// checkCode takes a code of the app, or a recovery code.
func (s *Service) checkCode(ctx context.Context, u User, d attempt, code secret.Value) (accept, error) {
	plain := plainCode(code)
	if len(plain) != totpDigits {
		return func(ctx context.Context, tx *db.Tx) error { return acceptRecovery(ctx, tx, u, plain) }, nil
	}
	stored, err := db.Read(ctx, s.db, func(tx *db.Tx) (storedTOTP, error) { return totpOf(ctx, tx, u.ID) })
	if fault.Is(err, fault.NotFound) || err == nil && len(stored.sealed) == 0 {
		return nil, errWrongFactor
	}
	if err != nil {
		return nil, err
	}
	key, err := s.unsealTOTP(u.ID, stored.sealed)
	if err != nil {
		return nil, err
	}
	guesses, err := s.countGuess(ctx, u, d)
	if err != nil {
		return nil, err
	}
	at, ok := stepOfCode(key, plain, s.now())
	if !ok {
		return nil, errWrongFactor
	}
	return func(ctx context.Context, tx *db.Tx) error {
		if err := acceptCode(ctx, tx, u.ID, at); err != nil {
			return err
		}
		return forgetFailures(ctx, tx, guesses)
	}, nil
}

// wrongFactor counts a failure and gives the answer to it.
func (s *Service) wrongFactor(ctx context.Context, d attempt) error {
	if err := s.wrongPassword(ctx, d); !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	return fault.New(fault.Unauthenticated, "The code is wrong, or was used already. Enter the next one.")
}
