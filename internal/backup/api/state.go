package api

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/backup"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// RestoreState is whether sending is held back, why, and what goes out when it begins.
type RestoreState struct {
	Held    bool            `json:"held" doc:"Nothing is sent until an administrator confirms it."`
	Reason  backup.Reason   `json:"reason,omitempty" enum:"backup,earlier,other,unknown,marked,asked"`
	Text    string          `json:"text,omitempty" doc:"The reason in a sentence."`
	Since   time.Time       `json:"since,omitzero" doc:"Since when sending is held back."`
	Access  string          `json:"access,omitempty" doc:"Which users, passwords and tokens are valid now, in sentences. Only while held."`
	Waiting waiting         `json:"waiting" doc:"What waits now."`
	Resting []RestoredToken `json:"restingTokens" doc:"Tokens of all users that are refused since a restore, until keepTokens names them."`
	Working []RestoredToken `json:"workingTokens"`
}

// MemberWords are those of the members that need more than a few.
func (RestoreState) MemberWords() map[string]string {
	return map[string]string{
		"reason": "Of what is held back. `backup`: `outrigger restore`; `earlier`: a node found an earlier state of the database; " +
			"`other`: another database; `unknown`: its note of the database could not be read; `marked`: `outrigger restore --mark`; " +
			"`asked`: `serve --hold`.",
		"workingTokens": "While it is not confirmed, tokens that work although they may have been revoked since the restored state.",
	}
}

// RestoredToken is a token whose owner may not have it any more.
type RestoredToken struct {
	ID     int64          `json:"id" doc:"Names it for keepTokens, and when it is revoked."`
	User   string         `json:"user" doc:"Its owner."`
	Name   string         `json:"name" doc:"What it is for."`
	Scope  identity.Scope `json:"scope" doc:"What it may do, as in the list of tokens."`
	UsedAt time.Time      `json:"lastUsedAt,omitzero" doc:"To the minute."`
}

func restoredOf(t identity.Token) RestoredToken {
	return RestoredToken{t.ID, t.User, t.Name, t.Scope, t.UsedAt}
}

func (t RestoredToken) String() string {
	return fmt.Sprintf("%d: %s of %s, %s", t.ID, t.Name, t.User, t.Scope)
}

// waiting is a backup.Pending that the description has in its place.
type waiting backup.Pending

// StateOf is the RestoreState of a service.
func StateOf(ctx context.Context, service *backup.Service) (RestoreState, error) {
	restored, err := service.Restored(ctx)
	if err != nil {
		return RestoreState{}, err
	}
	pending, err := service.Pending(ctx)
	if err != nil {
		return RestoreState{}, err
	}
	resting, working, err := service.Tokens(ctx)
	if err != nil {
		return RestoreState{}, err
	}
	s := RestoreState{
		Held: restored.Held(), Waiting: waiting(pending), Resting: rest.Each(resting, restoredOf), Working: rest.Each(working, restoredOf),
	}
	if s.Held {
		s.Reason, s.Text, s.Since, s.Access = restored.Reason, restored.String(), restored.At, restored.Access()
	}
	return s, nil
}

var heldState = RestoreState{
	Held: true, Reason: backup.Earlier, Since: time.Date(2026, 11, 23, 14, 10, 3, 0, time.UTC),
	Text: "This database was restored: the node code-1 saw it last at 2026-11-23 14:02 UTC, and at 2026-11-23 14:10 UTC found an " +
		"earlier state, of 2026-11-23 13:40 UTC.",
	Access: "Users, permissions, passwords and second factors are those of the restored state: change passwords and remove users " +
		"that must not be valid any more. Tokens of scope all, read and backup are refused until you choose which of them to keep. " +
		"Tokens of scope mail, builds and monitoring work: revoke those that must not.",
	Waiting: waiting{Messages: 160, Channels: 4, Mails: 40},
	Resting: []RestoredToken{{12, "deploy", "release notes", identity.All, time.Date(2026, 11, 23, 13, 38, 0, 0, time.UTC)}},
	Working: []RestoredToken{{9, "deploy", "build server", identity.Builds, time.Date(2026, 11, 23, 13, 39, 0, 0, time.UTC)}},
}
