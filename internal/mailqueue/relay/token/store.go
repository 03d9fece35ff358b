package token

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// place is where a refresh token is sealed for. There is one smarthost.
var place = [...]string{"relay_refresh_tokens", "token", "smarthost"}

// SealedPlaces is what the key encrypts of tokens. Where one is lost, the
// configured one is used again.
func SealedPlaces() []secret.Place {
	return []secret.Place{{Table: place[0], Column: place[1], Row: "name", Lost: `configured = ''`}}
}

// rotation is a refresh token, and the stored one that it replaces.
type rotation struct {
	token    secret.Value
	replaces []byte // sealed; nil: none is stored
}

// configured is the digest of the refresh token that is configured, for this
// client.
func (s *Source) configured() string {
	sum := sha256.Sum256([]byte(s.o.TokenURL + "\x00" + s.o.ClientID + "\x00" + s.o.RefreshToken.Reveal()))
	return hex.EncodeToString(sum[:])
}

// refreshToken is the one to use: the stored one, if it descends from the one
// that is configured.
func (s *Source) refreshToken(ctx context.Context) (rotation, error) {
	if s.unsaved != nil {
		if err := s.keep(ctx, *s.unsaved); err != nil {
			return rotation{}, err
		}
	}
	var digest string
	var sealed []byte
	_, err := s.o.DB.Find(ctx, "reading a refresh token", []any{&digest, &sealed},
		`SELECT configured, token FROM relay_refresh_tokens WHERE name = $1`, place[2])
	switch {
	case err != nil:
		return rotation{}, fault.Wrap(err, fault.Unavailable, "The stored refresh token of the smarthost cannot be read, since the database "+
			"does not answer.")
	case digest != s.configured():
		return rotation{s.o.RefreshToken, sealed}, nil
	}
	text, err := s.o.Box.Unseal(sealed, place[0], place[1], place[2])
	if err != nil {
		return rotation{}, fault.Wrap(err, fault.Unavailable, "The stored refresh token of the smarthost cannot be decrypted. Set "+
			"mail.oauth.refresh_token to a new one.")
	}
	return rotation{secret.New(text), sealed}, nil
}

// keep stores a refresh token, unless another has come since it was asked for.
// What cannot be stored is kept in memory, and stored before the next one is
// asked for. The caller has the turn.
func (s *Source) keep(ctx context.Context, r rotation) error {
	s.unsaved = &r
	sealed := s.o.Box.Seal(r.token.Reveal(), place[0], place[1], place[2])
	err := s.o.DB.Do(ctx, "storing a refresh token", `INSERT INTO relay_refresh_tokens (name, configured, token) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET configured = excluded.configured, token = excluded.token WHERE relay_refresh_tokens.token = $4`,
		place[2], s.configured(), sealed, r.replaces)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The provider issued a new refresh token for the smarthost, which could not be stored. It "+
			"is tried again.")
	}
	s.unsaved = nil
	return nil
}
