package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

// User is a user.
type User struct {
	Name            string           `json:"name" min:"1" max:"255" doc:"Without colon, slash and control characters; unique without case."`
	Source          string           `json:"source"`
	CreatedAt       time.Time        `json:"createdAt" doc:"When the user was created; of one who is not local, at the first sign-in."`
	PasswordAt      time.Time        `json:"passwordChangedAt" doc:"Of a user who is not local the first sign-in."`
	InitialPassword bool             `json:"initialPassword" doc:"The password is the one that the first start generated."`
	SignedInAt      time.Time        `json:"lastSignInAt,omitzero"`
	Enabled         bool             `json:"enabled" doc:"False: sign-ins, sessions and tokens are refused."`
	DisabledAt      time.Time        `json:"disabledAt,omitzero" doc:"Since when the user is disabled; absent: enabled."`
	Paused          bool             `json:"paused,omitempty"`
	PausesAt        time.Time        `json:"pausesAt,omitzero" doc:"When that begins, or began, without a sign-in. Absent: never."`
	Factors         factors          `json:"secondFactor"`
	Grants          []identity.Grant `json:"grants" doc:"What the user was granted; what groups give is not among them."`
	Dependents      []string         `json:"dependents,omitempty"`
}

// MemberWords are those of the members that need more than a few.
func (User) MemberWords() map[string]string {
	return map[string]string{
		"source":       "local, the connection whose platform knows the user, or oidc: single sign-on does.",
		"lastSignInAt": "By password: exact in the console, to the day by REST. Absent: never.",
		"paused": "The user is of single sign-on and has not signed in for `identity.oidc.idle`: sessions and tokens of the scopes " +
			"`all`, `read` and `backup` are refused until the next sign-in. Absent: not paused.",
		"secondFactor": "What a sign-in in the console asks for besides the password. With any of it, the password alone is refused by " +
			"REST and SMTP.",
		"dependents": "Of one user alone, not in lists: what stops when the user is deleted, in sentences, such as the use of cloud " +
			"accounts that rules belong to.",
	}
}

// factors are identity.Factors that the description has in their place.
type factors identity.Factors

// UserOf is a user as the API lists it.
func UserOf(u identity.User) User {
	return User{
		Name: u.Name, Source: u.Source, CreatedAt: u.CreatedAt, PasswordAt: u.PasswordAt, InitialPassword: u.Initial,
		SignedInAt: u.SignedInAt,
		Enabled:    !u.Disabled(), DisabledAt: u.DisabledAt, Paused: u.Pause.Begun, PausesAt: u.Pause.At,
		Factors: factors(u.Factors), Grants: append([]identity.Grant{}, u.Grants...),
	}
}

type newUser struct {
	Name     string       `json:"name" min:"1" max:"255" doc:"Without colon, slash and control characters; unique without case."`
	Password secret.Value `json:"password" min:"10" doc:"At most 1,024 bytes."`
	Wrong    fault.Fields `json:"-"`
	rest.Ignored[User]
}

type listPage struct{ Page rest.Page }

const userPath = UsersPath + "/{name}"

func (e endpoints) registerUsers(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: UsersPath, Access: rest.SysAdmins}, rest.Words{
		ID: "listUsers", Tag: tag, Summary: "Lists users, local ones first, then those of the platform, by name.",
		Text:   "Needs `SYS_ADMIN`.",
		Answer: "A page of users.",
	}, e.listUsers, rest.Example[listPage, rest.List[User]]{Name: "page", Out: &rest.List[User]{Items: []User{ada}}})
	rest.Add(r, rest.Route{Method: "POST", Path: UsersPath, Access: rest.SysAdmins}, rest.Words{
		ID: "createUser", Tag: tag, Summary: "Creates a user, who may do nothing yet.", Answer: "The user was created.",
		Status:  http.StatusCreated,
		Text:    "Needs `SYS_ADMIN`. The members of a user that are only read may be sent back and are ignored.",
		Headers: []string{"Location"}, Refused: []int{http.StatusConflict},
	}, e.createUser, rest.Example[newUser, rest.Answer[User]]{
		Name: "ada", In: newUser{Name: "ada", Password: secret.New("correct horse battery")}, Out: &rest.Answer[User]{Body: ada},
	})
	rest.Add(r, rest.Route{Method: "GET", Path: userPath, Access: rest.SignedIn}, rest.Words{
		ID: "getUser", Tag: tag, Summary: "Returns a user.", Text: "Your own user; other users need `SYS_ADMIN`.", Answer: "The user.",
		Refused: []int{http.StatusForbidden},
	}, e.user, rest.Example[ofUser, User]{Name: "ada", Out: &ada})
	rest.Add(r, rest.Route{Method: "DELETE", Path: userPath, Access: rest.SysAdmins}, rest.Words{
		ID: "deleteUser", Tag: tag, Summary: "Deletes a user with grants, tokens and sessions.", Answer: "The user is deleted.",
		Text: "Needs `SYS_ADMIN`. The last enabled local one who has `SYS_ADMIN` stays (409). A user of the platform may sign in " +
			"again, without any of that; disable the user to prevent it.",
		Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofUser) error { return e.identity.DeleteUser(ctx, in.Name) }))
}

// day is that of the examples.
var (
	day = time.Date(2026, 2, 3, 9, 12, 44, 0, time.UTC)
	ada = User{Name: "ada", Source: identity.Local, CreatedAt: day, PasswordAt: day, Enabled: true}
)

func (e endpoints) listUsers(ctx context.Context, in listPage) (list rest.List[User], err error) {
	users, err := e.identity.Users(ctx, in.Page.After, in.Page.Limit+1)
	return rest.NewList(in.Page, users, err, identity.User.Ref, UserOf)
}

func (e endpoints) createUser(ctx context.Context, in newUser) (a rest.Answer[User], err error) {
	if err := fault.Every(in.Wrong.Err(), identity.JudgeUser(in.Name, in.Password)); err != nil {
		return a, err
	}
	u, err := e.identity.CreateUser(ctx, in.Name, in.Password)
	return rest.Created(ctx, UserOf(u), UsersPath+"/"+url.PathEscape(u.Name)), err
}

func (e endpoints) user(ctx context.Context, in ofUser) (User, error) {
	if err := selfOr(ctx, in.Name); err != nil {
		return User{}, err
	}
	found, err := e.identity.User(ctx, in.Name)
	if err != nil {
		return User{}, err
	}
	u := UserOf(found)
	u.Dependents, err = e.identity.Dependents(ctx, in.Name)
	return u, err
}

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
