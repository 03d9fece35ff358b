package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"outrigger/internal/accounts/api"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

type usersCmd struct {
	Add          userAddCmd      `cmd:"" help:"Add a user without permissions, and print the password."`
	List         userListCmd     `cmd:"" help:"List users and their permissions."`
	Password     userPasswordCmd `cmd:"" help:"Set a user's password and print it."`
	Grant        userGrantCmd    `cmd:"" help:"Grant a permission to a user."`
	Revoke       userRevokeCmd   `cmd:"" help:"Revoke a permission."`
	Disable      userDisableCmd  `cmd:"" help:"Disable a user: sessions end, tokens and the password are refused. Nothing is deleted."`
	Enable       userEnableCmd   `cmd:"" help:"Enable a user who was disabled. Tokens from before end, unless you keep them."`
	Confirm      userConfirmCmd  `cmd:"" help:"${confirm}"`
	SecondFactor secondFactorCmd `cmd:"" help:"The second factors of users."`
	Delete       userDeleteCmd   `cmd:"" help:"Delete a user with all grants, tokens and sessions."`
}

// newPassword is the password that a command sets: that of a file, else one
// that is made and printed.
type newPassword struct {
	NewPasswordFile string `help:"A file that holds the new password. Default: a password is generated and printed." placeholder:"FILE"`
}

// passwordBytes make a password that cannot be guessed and can be typed.
const passwordBytes = 15

func (f newPassword) read() (password secret.Value, made bool, err error) {
	if f.NewPasswordFile == "" {
		return secret.New(secret.Random(passwordBytes)), true, nil
	}
	password, err = readSecret("--new-password-file", f.NewPasswordFile)
	return password, false, err
}

// say prints the outcome; a generated password is shown only once.
func (f newPassword) say(s streams, asJSON bool, name string, password secret.Value, made bool) error {
	shown := struct {
		Name     string `json:"name"`
		Password string `json:"password,omitempty"`
	}{Name: name}
	if made {
		shown.Password = password.Reveal()
	}
	if asJSON {
		return printJSON(s.out, shown)
	}
	if !made {
		return nil
	}
	_, err := fmt.Fprintln(s.out, shown.Password)
	return err
}

// aboutUser belongs to commands about one user.
type aboutUser struct {
	accountFlags
	Name string `arg:"" help:"${user}"`
}

type userAddCmd struct {
	accountFlags
	Name string `arg:"" help:"The user's name."`
	newPassword
}

func (c userAddCmd) Run(ctx context.Context, s streams) error {
	password, made, err := c.read()
	if err != nil {
		return err
	}
	return c.with(ctx, s, func(ctx context.Context, a accounts) error {
		if err := a.CreateUser(ctx, c.Name, password); err != nil {
			return err
		}
		return c.say(s, c.JSON, c.Name, password, made)
	})
}

type userPasswordCmd struct {
	accountFlags
	newPassword
	RevokeTokens *bool  `negatable:"" help:"Revoke the user's tokens, or not. Default: you are asked at a terminal; a script revokes them."`
	Name         string `arg:"" help:"The user's name."`
}

func (c userPasswordCmd) Run(ctx context.Context, s streams) error {
	password, made, err := c.read()
	if err != nil {
		return err
	}
	return c.with(ctx, s, func(ctx context.Context, a accounts) error {
		end, said, err := c.endTokens(ctx, s, a)
		if err != nil {
			return err
		}
		if err := a.SetPassword(ctx, c.Name, password, end); err != nil {
			return err
		}
		if said != "" {
			fmt.Fprintln(s.err, said)
		}
		return c.say(s, c.JSON, c.Name, password, made)
	})
}

// endTokens decides whether the user's tokens end with the password, and returns what is
// to be said of that afterwards. It asks at a terminal.
func (c userPasswordCmd) endTokens(ctx context.Context, s streams, a accounts) (end bool, said string, err error) {
	if c.RevokeTokens != nil {
		return *c.RevokeTokens, "", nil
	}
	list, err := a.Tokens(ctx, c.Name)
	if err != nil {
		return false, "", err
	}
	list = slices.DeleteFunc(list, func(t identity.Token) bool { return !t.ExpiresAt.IsZero() && time.Now().After(t.ExpiresAt) })
	if len(list) == 0 {
		return true, "", nil
	}
	if s.atTerminal() {
		end, err = s.agreeUnlessNo(ctx, fmt.Sprintf("%s has tokens that work: %d. Revoke them too?", c.Name, len(list)))
		return end, "", err
	}
	return true, fmt.Sprintf("Tokens of %s that were revoked: %d. To keep tokens, use --no-revoke-tokens.", c.Name, len(list)), nil
}

type userListCmd struct{ accountFlags }

func (c userListCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error {
		users, err := a.Users(ctx)
		if err != nil {
			return err
		}
		header := []string{"NAME", "SOURCE", "CREATED", "PERMISSIONS (ID: GRANT)", "LAST SIGN-IN", "STATE"}
		return printList(s, c.JSON, users, header, func(u *api.User) []string {
			return []string{u.Name, u.Source, stamp(u.CreatedAt), grantsText(u.Grants), stamp(u.SignedInAt), userState(u)}
		})
	})
}

func userState(u *api.User) string {
	switch {
	case !u.Enabled:
		return "disabled"
	case u.Paused:
		return "paused until the next sign-in"
	}
	return "enabled"
}

type userGrantCmd struct {
	accountFlags
	Name       string              `arg:"" help:"${user}"`
	Permission identity.Permission `arg:"" enum:"SYS_ADMIN,ADMIN,PROJECT_ADMIN,REPO_ADMIN" help:"${permission}"`
	resourceFlags
}

func (c userGrantCmd) Run(ctx context.Context, s streams) error {
	return c.grant(ctx, s, func(ctx context.Context, a accounts) (identity.Grant, error) {
		return a.Grant(ctx, c.Name, c.Permission, c.resource())
	})
}

type userRevokeCmd struct {
	accountFlags
	Name  string `arg:"" help:"${user}"`
	Grant int64  `arg:"" help:"The grant's id, from users list."`
}

func (c userRevokeCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error { return a.Revoke(ctx, c.Name, c.Grant) })
}

type userDisableCmd struct{ aboutUser }

func (c userDisableCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error { return a.DisableUser(ctx, c.Name) })
}

type userEnableCmd struct {
	accountFlags
	KeepToken []int64 `help:"Keep this token of the user, by its id (outrigger tokens list --for NAME). May be repeated." placeholder:"ID"`
	Name      string  `arg:"" help:"${user}"`
}

func (c userEnableCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error { return a.EnableUser(ctx, c.Name, c.KeepToken) })
}

type userDeleteCmd struct{ aboutUser }

func (c userDeleteCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error {
		stopped, err := a.DeleteUser(ctx, c.Name)
		if err != nil {
			return err
		}
		for _, sentence := range stopped {
			fmt.Fprintln(s.err, sentence)
		}
		return nil
	})
}

type secondFactorCmd struct {
	Remove secondFactorRemoveCmd `cmd:"" help:"${remove_factor}"`
}

type secondFactorRemoveCmd struct{ aboutUser }

func (c secondFactorRemoveCmd) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(ctx context.Context, a accounts) error { return a.RemoveSecondFactor(ctx, c.Name) })
}
