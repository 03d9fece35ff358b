package identity

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// maxName is how many characters a name may have: of a user or a token.
const maxName = 255

// User is an account that may sign in.
type User struct {
	ID         int64
	Name       string // as it was typed
	Source     string
	CreatedAt  time.Time
	PasswordAt time.Time // when the password was set
	Initial    bool      // the password is the one that the first start generated
	SignedInAt time.Time // the last time by password: in the console exact, elsewhere to the day; zero: never
	DisabledAt time.Time // zero: enabled
	// ClaimedUntil is how long the groups count that a provider named at the last
	// sign-in.
	ClaimedUntil time.Time
	Grants       []Grant
	ByGroups     []GroupGrant // what groups give besides, until ClaimedUntil
	Factors      Factors
	Pause        Pause

	password string
	subject  string // of the provider's account that signs in; "": none does
}

// nameKey is a local user's name as it is compared: without case. A name too
// long for any user is cut, for it serves as a key in memory too.
func nameKey(name string) string {
	key := strings.ReplaceAll(strings.ToLower(strings.ToValidUTF8(name, "\uFFFD")), "\x00", "\uFFFD") // as text is kept
	if len(key) > maxName*utf8.UTFMax {
		key = strings.ToValidUTF8(key[:maxName*utf8.UTFMax], "")
	}
	return key
}

// JudgeUser says what is wrong with the name and the password of a new user.
func JudgeUser(name string, password secret.Value) error {
	var wrong fault.Fields
	judgeName(&wrong, name)
	judgePassword(&wrong, "password", name, password)
	return wrong.Err()
}

// CreateUser makes a local user who may do nothing yet. Conflict: there is one
// of that name.
func (s *Service) CreateUser(ctx context.Context, name string, password secret.Value) (User, error) {
	if err := JudgeUser(name, password); err != nil {
		return User{}, err
	}
	stored, err := s.hasher.hash(ctx, password.Reveal())
	if err != nil {
		return User{}, err
	}
	u := User{Name: name, Source: Local, password: stored, CreatedAt: s.now()}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		created, err := s.insertUser(ctx, tx, &u)
		switch {
		case err != nil:
			return err
		case !created:
			return fault.New(fault.Conflict, "There is already a user %q; names are not case-sensitive.", name)
		}
		return record(ctx, tx, "create", "user", u.Name, nil, map[string]string{"name": u.Name})
	})
	return u, err
}

// insertUser inserts u and sets its id; it reports false if the name is taken.
func (s *Service) insertUser(ctx context.Context, tx *db.Tx, u *User) (bool, error) {
	u.CreatedAt = db.Time(db.Micros(u.CreatedAt)) // as it will be read
	u.PasswordAt = u.CreatedAt
	free, err := tx.Find(ctx, "storing a user", []any{&u.ID}, `INSERT INTO identity_users (source, name, name_key, password, initial_password,
		created_at, password_at, signed_in_at, disabled_at, subject, claimed_until)
		VALUES ($1, $2, $3, $4, $5, $6, $6, 0, 0, $7, 0) ON CONFLICT (source, name_key) DO NOTHING RETURNING id`,
		u.Source, u.Name, nameKey(u.Name), u.password, db.Bit(u.Initial), db.Micros(u.CreatedAt), u.subject)
	if free {
		s.changed(tx)
	}
	return free, err
}

// SetPassword changes a local user's password and ends their sessions, but for
// the one that asks. Tokens stay. Conflict: the user is none of ours. Who sets the
// password of another has to be confirmed, as for a second factor: see
// RequireConfirmed.
func (s *Service) SetPassword(ctx context.Context, name string, password secret.Value) error {
	if err := JudgePassword(name, password); err != nil {
		return err
	}
	stored, err := s.hasher.hash(ctx, password.Reveal())
	if err != nil {
		return err
	}
	var changed User
	err = s.changeUser(ctx, name, func(tx *db.Tx, u User) error {
		changed = u
		if u.Source != Local {
			return errPasswordElsewhere(u.Source, u.Name)
		}
		if p := From(ctx); p != nil && p.UserID != u.ID { // one's own takes the old one
			if err := s.RequireConfirmed(ctx); err != nil {
				return err
			}
		}
		if err := tx.Do(ctx, "storing a password",
			`UPDATE identity_users SET password = $1, initial_password = 0, password_at = $2 WHERE id = $3`,
			stored, db.Micros(s.now()), u.ID); err != nil {
			return err
		}
		if err := s.endSignIns(ctx, tx, u.ID, mySession(ctx)); err != nil {
			return err
		}
		return record(ctx, tx, "set password", "user", u.Ref(), nil, nil)
	})
	if err == nil {
		s.passwordGone(ctx, changed)
	}
	return err
}

func errPasswordElsewhere(source, name string) error {
	if source == SingleSignOn {
		return fault.New(fault.Conflict, "%s signs in by single sign-on and has no password here.", name)
	}
	return fault.New(fault.Conflict, "%s signs in with the password of the platform %s; change it there.", name, source)
}

// DeleteUser removes a user with what is theirs: grants, tokens, sessions. One of
// a platform may sign in again, and then has nothing of that; DisableUser keeps
// them out. Conflict: it is the last enabled local user with SYS_ADMIN.
func (s *Service) DeleteUser(ctx context.Context, name string) error {
	var deleted User
	err := s.changeUser(ctx, name, func(tx *db.Tx, u User) error {
		deleted = u
		if err := keepOneSysAdmin(ctx, tx, `user_id <> $1`, u.ID); err != nil {
			return err
		}
		if err := deleteOne(ctx, tx, "user", `DELETE FROM identity_users WHERE id = $1`, u.ID); err != nil {
			return err
		}
		s.changed(tx)
		return record(ctx, tx, "delete", "user", u.Ref(), map[string]string{"name": u.Name}, nil)
	})
	if err == nil {
		s.passwordGone(ctx, deleted)
	}
	return err
}

// changeUser has change change a user, by the Ref, in one transaction.
func (s *Service) changeUser(ctx context.Context, ref string, change func(tx *db.Tx, u User) error) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		u, err := userByName(ctx, tx, ref)
		if err != nil {
			return err
		}
		return change(tx, u)
	})
}

// User returns a user and their grants, by the Ref: a local user's name, or the
// connection, a colon and the name of a user of its platform.
func (s *Service) User(ctx context.Context, name string) (u User, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if u, err = userByName(ctx, tx, name); err != nil {
			return err
		}
		return s.loadGrants(ctx, tx, &u)
	})
	return u, err
}

// Users lists users with their grants, after the one of that Ref: local ones
// first, then by source, and by name without case.
func (s *Service) Users(ctx context.Context, after string, limit int) (users []User, err error) {
	const page = ` WHERE (CASE source WHEN 'local' THEN '' ELSE source END, name_key) > ($1, $2)
		ORDER BY CASE source WHEN 'local' THEN '' ELSE source END, name_key LIMIT $3`
	source, name := splitRef(after)
	if source == Local {
		source = ""
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if users, err = db.List(ctx, tx, "reading users", scanUser, selectUser+page, source, nameKey(name), limit); err != nil {
			return err
		}
		grants, err := grantsWhere(ctx, tx, `user_id IN (SELECT id FROM identity_users`+page+`)`, source, nameKey(name), limit)
		if err != nil {
			return err
		}
		all := make([]*User, len(users))
		for i := range users {
			all[i], users[i].Grants = &users[i], grants[holder{user: users[i].ID}]
			users[i].Pause = s.pauseOf(users[i])
		}
		return s.loadByGroups(ctx, tx, all...)
	})
	return users, err
}

const selectUser = `SELECT id, source, name, password, initial_password, created_at, password_at, signed_in_at, disabled_at,
	subject, claimed_until, ` + selectFactors + ` FROM identity_users`

// userByName finds a user by the Ref.
func userByName(ctx context.Context, tx *db.Tx, ref string) (User, error) {
	source, name := splitRef(ref)
	if !utf8.ValidString(ref) || strings.ContainsRune(ref, 0) { // which PostgreSQL cannot be asked for
		return User{}, fault.New(fault.NotFound, "There is no user %q.", ref)
	}
	none := fault.New(fault.NotFound, "There is no user %q.", ref)
	if source != Local {
		none = fault.New(fault.NotFound, "There is no user %q here. Users of a platform or of single sign-on are known from their first "+
			"sign-in on.", ref)
	}
	return db.One(ctx, tx, none, scanUser, selectUser+` WHERE source = $1 AND name_key = $2`, source, nameKey(name))
}

func userByID(ctx context.Context, tx *db.Tx, id int64) (User, error) {
	return db.One(ctx, tx, fault.New(fault.NotFound, "There is no such user."), scanUser, selectUser+` WHERE id = $1`, id)
}

// Disabled reports whether the user is kept out.
func (u User) Disabled() bool { return !u.DisabledAt.IsZero() }

// Ref names the user among those of all sources.
func (u User) Ref() string { return refOf(u.Source, u.Name) }

// refOf is unambiguous because names have no colon.
func refOf(source, name string) string {
	if source == Local {
		return name
	}
	return source + ":" + name
}

func splitRef(ref string) (source, name string) {
	if source, name, found := strings.Cut(ref, ":"); found {
		return source, name
	}
	return Local, ref
}

func scanUser(row db.Row) (u User, err error) {
	if err := row.Scan(&u.ID, &u.Source, &u.Name, &u.password, &u.Initial, db.At(&u.CreatedAt), db.At(&u.PasswordAt), db.At(&u.SignedInAt),
		db.At(&u.DisabledAt), &u.subject, db.At(&u.ClaimedUntil), &u.Factors.App, &u.Factors.Passkeys, &u.Factors.Recovery); err != nil {
		return u, fmt.Errorf("reading a user: %w", err)
	}
	return u, nil
}

// SameName reports whether two names are of the same local user.
func SameName(a, b string) bool { return nameKey(a) == nameKey(b) }
