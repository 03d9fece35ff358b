package identity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	firstName = "admin"
	// initialFile, in the data folder, holds the generated password until it is
	// changed.
	initialFile = "initial-password"
)

// Start makes the first administrator when there is no user yet: "admin" with
// SYS_ADMIN. Of several nodes that start at once, one makes it.
func (s *Service) Start(ctx context.Context) error {
	if err := s.startIdle(ctx); err != nil {
		return err
	}
	var users, initial int
	err := s.db.Get(ctx, "counting users", []any{&users, &initial},
		`SELECT COUNT(*), COUNT(CASE WHEN initial_password = 1 THEN 1 END) FROM identity_users`)
	switch {
	case err != nil:
		return err
	case users > 0 && initial == 0:
		return s.dropInitialPassword() // changed on another node, or while this one was away
	case users > 0:
		return nil
	}
	return s.makeFirst(ctx)
}

func (s *Service) makeFirst(ctx context.Context) error {
	u := User{Name: firstName, Source: Local, CreatedAt: s.now(), Initial: s.first.IsZero()}
	password, err := s.firstPassword()
	if err != nil {
		return err
	}
	if u.password, err = s.hasher.hash(ctx, password.Reveal()); err != nil {
		return err
	}
	var draft string
	if u.Initial {
		// Before the user is stored: a crash between the two must not leave a user
		// whose password is not known.
		if draft, err = s.draftPassword(password); err != nil {
			return err
		}
	}
	made := false
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if made, err = s.insertUser(ctx, tx, &u); err != nil || !made {
			return err
		}
		grant := Grant{Permission: SysAdmin, GrantedAt: u.CreatedAt}
		if err := s.insertGrant(ctx, tx, holder{user: u.ID}, &grant); err != nil {
			return err
		}
		after := grant.members()
		after["name"] = u.Name
		return record(ctx, tx, "create", "user", u.Name, nil, after)
	})
	switch {
	case err != nil:
		return fmt.Errorf("making the first administrator: %w", err)
	case u.Initial && !made: // another node was quicker
		return os.RemoveAll(draft)
	case !made:
	case u.Initial:
		if err := os.Rename(draft, s.initialPath()); err != nil {
			return fmt.Errorf("naming the file of the first password: %w", err)
		}
		s.log.InfoContext(ctx, "made the first administrator", "user", u.Name, "password_file", s.initialPath())
	default:
		s.log.InfoContext(ctx, "made the first administrator, with the configured password", "user", u.Name)
	}
	return nil
}

func (s *Service) initialPath() string { return filepath.Join(s.dataDir, initialFile) }

// firstPassword is the configured one, else a new one of 128 bits.
func (s *Service) firstPassword() (secret.Value, error) {
	if s.first.IsZero() {
		return secret.New(rand.Text()), nil
	}
	var wrong fault.Fields
	judgePassword(&wrong, "admin_password", firstName, s.first)
	if len(wrong) > 0 {
		return secret.Value{}, fault.New(fault.Invalid, "admin_password is refused: %s", wrong[0].Message)
	}
	return s.first, nil
}

// draftPassword writes the password under a name of its own, since nodes that
// start at once may share the folder.
func (s *Service) draftPassword(password secret.Value) (path string, err error) {
	f, err := os.CreateTemp(s.dataDir, initialFile+".*") // mode 0600
	if err == nil {
		_, err = f.WriteString(password.Reveal() + "\n")
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("writing the first password: %w", err)
	}
	return f.Name(), nil
}

// dropInitialPassword removes the file, and drafts of starts that broke off.
func (s *Service) dropInitialPassword() error {
	files, err := filepath.Glob(s.initialPath() + "*")
	for _, file := range files {
		err = errors.Join(err, os.RemoveAll(file))
	}
	if err != nil {
		return fmt.Errorf("removing the first password: %w", err)
	}
	return nil
}

// passwordGone removes the file of a password that no longer is. The change is
// made: if that fails, the file holds nothing of use.
func (s *Service) passwordGone(ctx context.Context, u User) {
	if !u.Initial {
		return
	}
	if err := s.dropInitialPassword(); err != nil {
		s.log.WarnContext(ctx, "the file of the first password is still there", "error", err)
	}
}
