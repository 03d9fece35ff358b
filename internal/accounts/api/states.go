package api

import (
	"context"
	"net/http"

	"outrigger/internal/rest"
)

// EnableUser is what of a user's access is to hold again.
type EnableUser struct {
	KeepTokens []int64 `json:"keepTokens,omitempty" doc:"The ids of tokens of the user that stay valid; another id is 400."`
}

type enableUser struct {
	ofUser
	EnableUser
}

func (e endpoints) registerUserStates(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "POST", Path: userPath + "/disable", Access: rest.SysAdmins}, rest.Words{
		ID: "disableUser", Tag: tag, Summary: "Disables a user; sessions end, tokens and the password are refused.",
		Answer: "The user is disabled.",
		Text: "Needs `SYS_ADMIN`. Within a second, on all nodes. Nothing is deleted: rules, grants and tokens stay. You cannot " +
			"disable yourself, nor the last enabled local user who has `SYS_ADMIN` (409). A user who is disabled already stays so.",
		Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofUser) error { return e.identity.DisableUser(ctx, in.Name) }))
	rest.Add(r, rest.Route{Method: "POST", Path: userPath + "/enable", Access: rest.SysAdmins, Bare: true}, rest.Words{
		ID: "enableUser", Tag: tag, Summary: "Enables a user who was disabled, with the same password and grants.",
		Answer: "The user is enabled.",
		Text: "Needs `SYS_ADMIN`. A token alone may not do this; see `Outrigger-Code`. Sessions do not come back. The tokens from " +
			"before end, but for those of `keepTokens`. A user who is not disabled stays enabled.",
		Confirmed: true,
	}, func(ctx context.Context, in enableUser) (rest.None, error) {
		_, err := e.identity.EnableUser(ctx, in.Name, in.KeepTokens)
		return rest.None{}, err
	}, rest.Example[enableUser, rest.None]{Name: "none"})
}
