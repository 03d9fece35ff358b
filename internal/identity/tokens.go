package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	// tokenPrefix lets people and secret scanners see what it is.
	tokenPrefix = "otr_"
	// secretBytes are the random bytes of a token or session.
	secretBytes = 32
	// maxTokens is how many a user may have: one for every repository of a large
	// company, and no more than one answer lists.
	maxTokens = 1000
)

// Token is what a program shows instead of a name and password. What it shows
// was given out once and is not known here.
type Token struct {
	ID        int64     `json:"id" doc:"Names it when it is revoked."`
	UserID    int64     `json:"-"`
	User      string    `json:"user" doc:"Its owner."` // a Ref
	Name      string    `json:"name" doc:"What it is for."`
	Scope     Scope     `json:"scope" enum:"all,read,backup,monitoring,builds,mail"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was made."`
	ExpiresAt time.Time `json:"expiresAt,omitzero" doc:"Absent: never."`
	UsedAt    time.Time `json:"lastUsedAt,omitzero" doc:"To the minute."`
	// RestsSince ends with KeepTokens.
	RestsSince  time.Time `json:"restsSince,omitzero" doc:"Since when it is refused after a restore, until an administrator keeps it."`
	PausedSince time.Time `json:"pausedSince,omitzero"`
}

// MemberWords are those of the members that need more than a few.
func (Token) MemberWords() map[string]string {
	return map[string]string{
		"scope": ScopeWords,
		"pausedSince": "In lists: since when it is refused because its owner has not signed in for `identity.oidc.idle`, until the next " +
			"sign-in.",
	}
}

// ScopeWords say what a token of each scope may do.
const ScopeWords = "`all`; `read`: GET and HEAD; `backup`: taking backups; `monitoring`: the mail queue endpoints, what needs " +
	"attention, and `/metrics`; `builds`: posting build statuses; `mail`: SMTP AUTH."

// over reports whether the token has expired.
func (t Token) over(now time.Time) bool { return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) }

// CreateToken makes a token for a user, by the Ref. The first result is the only
// time that it can be seen. A zero expires is never. Conflict: the user has
// maxTokens. Forbidden: who asks may not make one of the scope, see TokenScopes. A
// token with which data can be taken out, and one in another user's name, need more
// than a token: see RequireConfirmed.
func (s *Service) CreateToken(ctx context.Context, user, name string, scope Scope, expires time.Time) (secret.Value, Token, error) {
	t := Token{Name: name, Scope: scope, CreatedAt: db.Time(db.Micros(s.now())), ExpiresAt: db.Time(db.Micros(expires))}
	if err := JudgeToken(t); err != nil {
		return secret.Value{}, t, err
	}
	if p := From(ctx); p != nil && !slices.Contains(p.TokenScopes(), scope) {
		return secret.Value{}, t, fault.New(fault.Forbidden, "To create a token of scope %s you need the permission ADMIN. "+
			"Ask an administrator for one.", scope)
	}
	plain := tokenPrefix + secret.Random(secretBytes)
	err := s.changeUser(ctx, user, func(tx *db.Tx, u User) error {
		t.UserID, t.User = u.ID, u.Ref()
		if p := From(ctx); scope.readsAll() || p != nil && p.UserID != u.ID {
			if err := s.RequireConfirmed(ctx); err != nil {
				return err
			}
		}
		var has int
		if err := tx.Get(ctx, "counting tokens", []any{&has}, `SELECT COUNT(*) FROM identity_tokens WHERE user_id = $1`, u.ID); err != nil {
			return err
		}
		if has >= maxTokens {
			return fault.New(fault.Conflict, "%s has %d tokens already. Revoke some that are not needed any more.", t.User, has)
		}
		if err := tx.Get(ctx, "storing a token", []any{&t.ID},
			`INSERT INTO identity_tokens (user_id, name, scope, hash, created_at, expires_at, used_at)
			VALUES ($1, $2, $3, $4, $5, $6, 0) RETURNING id`,
			u.ID, t.Name, string(t.Scope), secret.Fingerprint(plain), db.Micros(t.CreatedAt), db.Micros(t.ExpiresAt)); err != nil {
			return err
		}
		return record(ctx, tx, "create", "token", idText(t.ID), nil, t.members())
	})
	if err != nil {
		return secret.Value{}, t, err
	}
	return secret.New(plain), t, nil
}

// readsAll reports whether a token of the scope reads what its owner may read, or
// the whole database.
func (s Scope) readsAll() bool { return s == All || s == Read || s == Backup }

// needsAdmin reports whether a token of the scope does what its owner may not do
// without it, so that only who has ADMIN makes one.
func (s Scope) needsAdmin() bool { return s == Monitoring || s == Mail }

// TokenScopes lists the scopes of which the principal may make tokens, the widest
// first.
func (p *Principal) TokenScopes() []Scope {
	return slices.DeleteFunc(Scopes(), func(s Scope) bool { return s.needsAdmin() && !p.May(Admin, Resource{}) })
}

// JudgeToken says what is wrong with a token that is to be made.
func JudgeToken(t Token) error {
	var wrong fault.Fields
	if n := utf8.RuneCountInString(t.Name); n == 0 || n > maxName || strings.ContainsFunc(t.Name, unicode.IsControl) {
		wrong.Add("name", "Give the token a name of 1 to %d characters that says what it is for.", maxName)
	}
	if !slices.Contains(Scopes(), t.Scope) {
		wrong.Add("scope", "There is no scope %q; give all, read, backup, monitoring, builds or mail.", string(t.Scope))
	}
	if t.over(t.CreatedAt) {
		wrong.Add("expiresAt", "The time is in the past; use a time in the future, or none.")
	}
	return wrong.Err()
}

func (t Token) members() map[string]string {
	m := map[string]string{"user": t.User, "name": t.Name, "scope": string(t.Scope)}
	if !t.ExpiresAt.IsZero() {
		m["expiresAt"] = t.ExpiresAt.Format(time.RFC3339)
	}
	return m
}

// TokenByID returns a token.
func (s *Service) TokenByID(ctx context.Context, id int64) (Token, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (Token, error) { return tokenBy(ctx, tx, `t.id = $1`, id) })
}

// Tokens lists a user's tokens, the oldest first, after the one of that
// id.
func (s *Service) Tokens(ctx context.Context, user string, after int64, limit int) (tokens []Token, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		u, err := userByName(ctx, tx, user)
		if err != nil {
			return err
		}
		pause := s.pauseOf(u)
		tokens, err = db.List(ctx, tx, "reading tokens", func(row db.Row) (Token, error) {
			t, err := scanToken(row)
			if t.Scope.readsAll() && pause.Begun {
				t.PausedSince = pause.At
			}
			return t, err
		}, selectToken+` WHERE t.user_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3`, u.ID, after, limit)
		return err
	})
	return tokens, err
}

// RevokeToken ends a token.
func (s *Service) RevokeToken(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		t, err := tokenBy(ctx, tx, `t.id = $1`, id)
		if err != nil {
			return err
		}
		if err := deleteOne(ctx, tx, "token", `DELETE FROM identity_tokens WHERE id = $1`, id); err != nil {
			return err
		}
		s.changed(tx)
		return record(ctx, tx, "revoke", "token", idText(id), t.members(), nil)
	})
}

// RevokeTokens revokes all tokens of a user, and answers how many there were.
func (s *Service) RevokeTokens(ctx context.Context, user string) (revoked int, err error) {
	err = s.changeUser(ctx, user, func(tx *db.Tx, u User) (err error) {
		revoked, err = s.endTokens(ctx, tx, u, nil)
		return err
	})
	return revoked, err
}

// endTokens revokes the tokens of a user but those of the ids in keep. Invalid: one
// of the ids is of no token of the user.
func (s *Service) endTokens(ctx context.Context, tx *db.Tx, u User, keep []int64) (ended int, err error) {
	kept := "0" // which is no token's
	for _, id := range keep {
		t, err := tokenBy(ctx, tx, `t.id = $1`, id)
		if fault.Is(err, fault.NotFound) || err == nil && t.UserID != u.ID {
			return 0, fault.InvalidField("keepTokens", "%s has no token %d.", u.Ref(), id)
		}
		if err != nil {
			return 0, err
		}
		kept += "," + idText(id)
	}
	n, err := tx.Changed(ctx, "deleting tokens", `DELETE FROM identity_tokens WHERE user_id = $1 AND id NOT IN (`+kept+`)`, u.ID)
	if err != nil || n == 0 {
		return 0, err
	}
	s.changed(tx)
	return int(n), record(ctx, tx, "revoke", "tokens", "", map[string]string{"user": u.Ref(), "tokens": idText(n)}, nil)
}

const selectToken = `SELECT t.id, t.user_id, u.source, u.name, t.name, t.scope, t.created_at, t.expires_at, t.used_at, COALESCE(r.since, 0)
	FROM identity_tokens t JOIN identity_users u ON u.id = t.user_id LEFT JOIN identity_resting r ON r.token_id = t.id`

func tokenBy(ctx context.Context, tx *db.Tx, condition string, arg any) (Token, error) {
	return db.One(ctx, tx, fault.New(fault.NotFound, "There is no such token."), scanToken, selectToken+` WHERE `+condition, arg)
}

func scanToken(row db.Row) (t Token, err error) {
	var source, name string
	if err := row.Scan(&t.ID, &t.UserID, &source, &name, &t.Name, &t.Scope,
		db.At(&t.CreatedAt), db.At(&t.ExpiresAt), db.At(&t.UsedAt), db.At(&t.RestsSince)); err != nil {
		return t, fmt.Errorf("reading a token: %w", err)
	}
	t.User = refOf(source, name)
	return t, nil
}
