package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// CreatedToken is a token that was made.
type CreatedToken struct {
	identity.Token
	Plain string `json:"token" pattern:"^otr_[A-Za-z0-9_-]{43}$" doc:"The token itself: this is the only time that it is shown."`
}

// NewToken is a token to make.
type NewToken struct {
	User      string         `json:"user,omitempty" doc:"Its owner; by default the caller."`
	Name      string         `json:"name" min:"1" max:"255" doc:"What it is for."`
	Scope     identity.Scope `json:"scope" enum:"all,read,backup,monitoring,builds,mail"`
	ExpiresAt time.Time      `json:"expiresAt,omitzero" doc:"Without it never."`
	Wrong     fault.Fields   `json:"-"`
	rest.Ignored[identity.Token]
}

// MemberWords are those of the members that need more than a few.
func (NewToken) MemberWords() map[string]string {
	return map[string]string{"scope": identity.ScopeWords}
}

// listOfUser is a page of what a user has.
type listOfUser struct {
	User  string `query:"user" doc:"Whose; without it one's own."`
	Page  rest.Page
	Wrong fault.Fields
}

// read returns the user and the id that the page begins after.
func (l listOfUser) read(ctx context.Context) (name string, after int64, err error) {
	if name, err = owner(ctx, l.User); err != nil {
		return "", 0, err
	}
	after, err = l.Page.AfterID()
	return name, after, fault.Every(l.Wrong.Err(), err)
}

func (e endpoints) registerTokens(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: TokensPath, Access: rest.SignedIn}, rest.Words{
		ID: "listTokens", Tag: tag, Summary: "Lists tokens, the oldest first.", Answer: "A page of tokens, without what they show.",
		Text: "One's own; with `user` anybody's, which needs `SYS_ADMIN`.", Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, e.listTokens, rest.Example[listOfUser, rest.List[identity.Token]]{
		Name: "page", Out: &rest.List[identity.Token]{Items: []identity.Token{monitor}},
	})
	rest.Add(r, rest.Route{Method: "POST", Path: TokensPath, Access: rest.SignedIn}, rest.Words{
		ID: "createToken", Tag: tag, Summary: "Creates a token.", Answer: "The token was created.", Status: http.StatusCreated,
		Text: "For oneself; with `user` for anybody, which needs `SYS_ADMIN`. The answer is the only time that `token` is shown. It " +
			"goes into `Authorization: Bearer`, or takes the place of the password in Basic. A token of scope `all`, `read` or `backup`, " +
			"and any in another user's name, needs more than a token; see `Outrigger-Code`. One of scope `monitoring` or `mail` needs " +
			"`ADMIN`, since its owner need not have it. A user may have 1,000 tokens (409).",
		Confirmed: true, Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
	}, e.createToken, rest.Example[NewToken, CreatedToken]{
		Name: "monitor", In: NewToken{Name: "monitor", Scope: identity.Monitoring, ExpiresAt: lastDay},
		Out: &CreatedToken{
			monitor,
			"otr_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		},
	})
	rest.Add(r, rest.Route{Method: "DELETE", Path: TokensPath + "/{id}", Access: rest.SignedIn}, rest.Words{
		ID: "revokeToken", Tag: tag, Summary: "Revokes a token.", Answer: "The token is no longer valid, on every node within a second.",
		Text: "Your own; those of other users need `SYS_ADMIN`.", Refused: []int{http.StatusForbidden},
	}, rest.Done(e.revokeToken))
}

var (
	lastDay = time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC)
	monitor = identity.Token{ID: 12, User: "admin", Name: "monitor", Scope: identity.Monitoring, CreatedAt: day, ExpiresAt: lastDay}
)

type ofToken struct {
	ID int64 `path:"id" of:"token" doc:"The token's id, as the list gives it." example:"1"`
}

func (e endpoints) listTokens(ctx context.Context, in listOfUser) (list rest.List[identity.Token], err error) {
	name, after, err := in.read(ctx)
	if err != nil {
		return list, err
	}
	tokens, err := e.identity.Tokens(ctx, name, after, in.Page.Limit+1)
	return rest.ListOf(in.Page, tokens, err, func(t identity.Token) string { return strconv.FormatInt(t.ID, 10) })
}

func (e endpoints) createToken(ctx context.Context, in NewToken) (CreatedToken, error) {
	in.Scope = rest.Spelled(in.Scope, identity.Scopes()...)
	name, err := owner(ctx, in.User)
	if err != nil {
		return CreatedToken{}, err
	}
	if len(in.Wrong) > 0 {
		return CreatedToken{}, fault.Every(in.Wrong.Err(), identity.JudgeToken(identity.Token{
			Name: in.Name, Scope: in.Scope, ExpiresAt: in.ExpiresAt,
		}))
	}
	plain, t, err := e.identity.CreateToken(ctx, name, in.Name, in.Scope, in.ExpiresAt)
	return CreatedToken{t, plain.Reveal()}, err
}

func (e endpoints) revokeToken(ctx context.Context, in ofToken) error {
	t, err := e.identity.TokenByID(ctx, in.ID)
	if fault.Is(err, fault.NotFound) {
		return identity.Missing(ctx, "There is no token \"%d\".", in.ID)
	}
	if err == nil {
		err = selfOr(ctx, t.User)
	}
	if err == nil {
		err = e.identity.RevokeToken(ctx, in.ID)
	}
	return err
}
