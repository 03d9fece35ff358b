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

type sessionsOf struct {
	User string `query:"user" doc:"Whose; without it one's own."`
}

type ofSession struct {
	ID int64 `path:"id" of:"session" doc:"The session's id, as the list gives it." example:"1"`
}

func (e endpoints) registerSessions(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: sessionsPath, Access: rest.SignedIn}, rest.Words{
		ID: "listSessions", Tag: tag, Summary: "Lists sessions of the console, the oldest first.",
		Answer: "A page of sessions that are not over.",
		Text:   "One's own; with `user` anybody's, which needs `SYS_ADMIN`.", Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, e.listSessions, rest.Example[listOfUser, rest.List[identity.Session]]{
		Name: "page", Out: &rest.List[identity.Session]{Items: []identity.Session{{
			ID: 5, User: "ada", Address: "192.0.2.7", Browser: "Firefox on Linux", CreatedAt: day, UsedAt: day.Add(time.Hour),
			ExpiresAt: day.AddDate(0, 0, 7),
		}}},
	})
	rest.Add(r, rest.Route{Method: "DELETE", Path: sessionsPath, Access: rest.SignedIn}, rest.Words{
		ID: "endSessions", Tag: tag, Summary: "Ends all sessions but the one that asks.",
		Answer:  "They are over, on every node within a second.",
		Text:    "Your own; with `user` those of that user, which needs `SYS_ADMIN` where it is another.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, rest.Done(e.endSessions))
	rest.Add(r, rest.Route{Method: "DELETE", Path: sessionsPath + "/{id}", Access: rest.SignedIn}, rest.Words{
		ID: "endSession", Tag: tag, Summary: "Ends a session.", Answer: "The session has ended, on every node within a second.",
		Text: "Your own; those of other users need `SYS_ADMIN`.", Refused: []int{http.StatusForbidden},
	}, rest.Done(e.endSession))
}

func (e endpoints) listSessions(ctx context.Context, in listOfUser) (list rest.List[identity.Session], err error) {
	name, after, err := in.read(ctx)
	if err != nil {
		return list, err
	}
	sessions, err := e.identity.Sessions(ctx, name, after, in.Page.Limit+1)
	return rest.ListOf(in.Page, sessions, err, func(s identity.Session) string { return strconv.FormatInt(s.ID, 10) })
}

// endSessions ends the others of who asks, or all of a user that is named.
func (e endpoints) endSessions(ctx context.Context, in sessionsOf) error {
	name, err := owner(ctx, in.User)
	if err == nil {
		_, err = e.identity.EndSessions(ctx, name, identity.From(ctx).Session)
	}
	return err
}

func (e endpoints) endSession(ctx context.Context, in ofSession) error {
	s, err := e.identity.SessionByID(ctx, in.ID)
	if fault.Is(err, fault.NotFound) {
		return identity.Missing(ctx, "There is no session \"%d\".", in.ID)
	}
	if err == nil {
		err = selfOr(ctx, s.User)
	}
	if err == nil {
		err = e.identity.EndSession(ctx, in.ID)
	}
	return err
}
