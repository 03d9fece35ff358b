package stored

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"

	"outrigger/internal/loadtest"
)

var shownSecret = regexp.MustCompile(`\b(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}\b`)

// users are several with permissions of each level and tokens; ada has an authenticator app.
func (f *filler) users(ctx context.Context) error {
	for name, grant := range map[string]object{
		"ada": {"permission": "ADMIN"},
		"bob": {"permission": "PROJECT_ADMIN", "connection": "code", "projectKey": "ATL"},
		"cyd": {"permission": "REPO_ADMIN", "connection": "code", "projectKey": "ATL", "repositoryKey": "card-reader"},
		"dan": {"permission": "SYS_ADMIN"},
	} {
		f.s.Passwords[name] = "the password of " + name
		if err := f.post(ctx, "/rest/outrigger/1.0/users", object{"name": name, "password": f.s.Passwords[name]}, nil); err != nil {
			return err
		}
		if grant["connection"] == nil { // the others need their connection
			if err := f.post(ctx, "/rest/outrigger/1.0/users/"+name+"/grants", grant, nil); err != nil {
				return err
			}
		}
	}
	if err := f.post(ctx, "/rest/outrigger/1.0/users/dan/disable", nil, nil); err != nil {
		return err
	}
	for name, scope := range map[string]string{"monitor": "monitoring", "host application": "mail", "build server": "builds"} {
		var made struct{ Token string }
		if err := f.post(ctx, "/rest/outrigger/1.0/tokens", object{"name": name, "scope": scope}, &made); err != nil {
			return err
		}
		f.s.Tokens[name] = made.Token
	}
	return f.secondFactor(ctx, "ada")
}

func (f *filler) secondFactor(ctx context.Context, user string) error {
	browser := loadtest.NewBrowser(f.p.Addr())
	if _, err := browser.Send(ctx, "/sign-in", url.Values{"user": {user}, "password": {f.s.Passwords[user]}}); err != nil {
		return err
	}
	page, err := browser.Send(ctx, "/account/second-factor/app", nil)
	if err != nil {
		return err
	}
	shown := shownSecret.FindString(page)
	if shown == "" {
		return errors.New("the page shows no secret")
	}
	f.s.App = strings.ReplaceAll(shown, " ", "")
	code, err := totp.GenerateCode(f.s.App, time.Now())
	if err != nil {
		return err
	}
	page, err = browser.Send(ctx, "/account/second-factor/app", url.Values{"code": {code}})
	if err == nil && !strings.Contains(page, "ecovery codes") {
		err = fmt.Errorf("the app was not taken: %.500s", html.UnescapeString(page))
	}
	return err
}

// SignIn signs a user in with password and authenticator app.
func (s *Secrets) SignIn(ctx context.Context, address, user string) error {
	browser := loadtest.NewBrowser(address)
	page, err := browser.Send(ctx, "/sign-in", url.Values{"user": {user}, "password": {s.Passwords[user]}})
	if err != nil {
		return err
	}
	if user == "ada" {
		if !strings.Contains(page, "code") {
			return errors.New("ada was asked for no code")
		}
		code, err := totp.GenerateCode(s.App, time.Now())
		if err != nil {
			return err
		}
		if page, err = browser.Send(ctx, "/sign-in/factor", url.Values{"code": {code}}); err != nil {
			return err
		}
	}
	if !strings.Contains(page, "Sign out") {
		return fmt.Errorf("%s is not signed in: %.500s", user, html.UnescapeString(page))
	}
	return nil
}
