package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"outrigger/internal/backup"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// State is whether sending is held back, why, and what goes out when it begins.
type State struct {
	Held    bool          `json:"held"`
	Reason  backup.Reason `json:"reason,omitempty"`
	Text    string        `json:"text,omitempty"`
	Since   time.Time     `json:"since,omitzero"`
	Access  string        `json:"access,omitempty"` // what of ended access holds again
	Waiting Waiting       `json:"waiting"`
	Resting []Token       `json:"restingTokens"` // refused until they are kept
	Working []Token       `json:"workingTokens"` // that may have been revoked since
}

// Token is one of a user.
type Token struct {
	ID     int64          `json:"id"`
	User   string         `json:"user"`
	Name   string         `json:"name"`
	Scope  identity.Scope `json:"scope"`
	UsedAt time.Time      `json:"lastUsedAt,omitzero"`
}

// TokensOf lists tokens as they are in a State.
func TokensOf(list []identity.Token) []Token {
	tokens := make([]Token, len(list))
	for i, t := range list {
		tokens[i] = Token{t.ID, t.User, t.Name, t.Scope, t.UsedAt}
	}
	return tokens
}

func (t Token) String() string { return fmt.Sprintf("%d: %s of %s, %s", t.ID, t.Name, t.User, t.Scope) }

// Waiting is a backup.Pending.
type Waiting struct {
	Messages  int  `json:"messages"`
	Channels  int  `json:"channels"`
	Mails     int  `json:"mails"`
	Reports   int  `json:"reports"`
	Migration bool `json:"migration"`
}

func (a *API) state(w http.ResponseWriter, r *http.Request) error {
	s, err := StateOf(r.Context(), a.Service)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, s)
}

// StateOf is the State of a service.
func StateOf(ctx context.Context, service *backup.Service) (State, error) {
	restored, err := service.Restored(ctx)
	if err != nil {
		return State{}, err
	}
	waiting, err := service.Pending(ctx)
	if err != nil {
		return State{}, err
	}
	resting, working, err := service.Tokens(ctx)
	if err != nil {
		return State{}, err
	}
	s := State{Held: restored.Held(), Waiting: Waiting(waiting), Resting: TokensOf(resting), Working: TokensOf(working)}
	if s.Held {
		s.Reason, s.Text, s.Since, s.Access = restored.Reason, restored.String(), restored.At, restored.Access()
	}
	return s, nil
}
