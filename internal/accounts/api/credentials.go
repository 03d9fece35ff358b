package api

import (
	"context"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

type newPassword struct {
	ofUser
	Password  secret.Value `json:"password" min:"10" doc:"At most 1,024 bytes."`
	Current   secret.Value `json:"currentPassword,omitzero" doc:"Needed for one's own."`
	EndTokens *bool        `json:"endTokens,omitempty" default:"true" doc:"Revokes the user's tokens too: an intruder may have made some."`
	Wrong     fault.Fields `json:"-"`
}

func (e endpoints) registerCredentials(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "PUT", Path: userPath + "/password", Access: rest.SignedIn}, rest.Words{
		ID: "setPassword", Tag: tag, Summary: "Changes a password.", Answer: "The password is changed.",
		Text: "Your own, with `currentPassword`; those of other users need `SYS_ADMIN` and more than a token; see `Outrigger-Code`. " +
			"It ends the user's sessions, but for the one that asks, and with `endTokens` all tokens of the user. A user who is not " +
			"local has no password here (409).",
		Confirmed: true, Refused: []int{http.StatusForbidden, http.StatusConflict},
	}, e.setPassword, []rest.Example[newPassword, rest.None]{
		{Name: "ada", In: newPassword{Password: secret.New("staple battery horse")}},
		{Name: "keepTokens", In: newPassword{Password: secret.New("staple battery horse"), EndTokens: new(bool)}},
	}...)
	rest.Add(r, rest.Route{Method: "DELETE", Path: userPath + "/second-factor", Access: rest.SysAdmins}, rest.Words{
		ID: "removeSecondFactor", Tag: tag, Summary: "Removes a user's authenticator app, passkeys and recovery codes.",
		Text: "Needs `SYS_ADMIN`. For users who lost them: the password alone is enough until they set up new ones in the console. " +
			"Their sessions end. A token alone may not do this; see `Outrigger-Code`. A user without a second factor is 409.",
		Answer: "The second factor is removed.", Confirmed: true, Refused: []int{http.StatusConflict, http.StatusTooManyRequests},
	}, rest.Done(func(ctx context.Context, in ofUser) error { return e.identity.RemoveFactors(ctx, in.Name) }))
}

// setPassword changes a password. Users who change their own show the old one too,
// so that a session left open is not enough.
func (e endpoints) setPassword(ctx context.Context, in newPassword) (none rest.None, err error) {
	if err := selfOr(ctx, in.Name); err != nil {
		return none, err
	}
	wrong := in.Wrong
	if self(ctx, in.Name) {
		err := e.identity.CheckPassword(ctx, in.Name, in.Current.Reveal(), rest.ClientAddr(ctx))
		switch {
		case fault.Is(err, fault.Unauthenticated):
			wrong.Add("currentPassword", "This is not your current password.")
		case err != nil:
			return none, err
		}
	}
	if err := fault.Every(wrong.Err(), identity.JudgePassword(in.Name, in.Password)); err != nil {
		return none, err
	}
	if err := e.identity.SetPassword(ctx, in.Name, in.Password); err != nil {
		return none, err
	}
	if in.EndTokens == nil || *in.EndTokens {
		_, err = e.identity.RevokeTokens(ctx, in.Name)
	}
	return none, err
}
