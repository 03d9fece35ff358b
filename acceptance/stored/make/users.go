package main

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

// users are several with permissions of each level and tokens; ada has an authenticator app.
func (f *filler) users(ctx context.Context) {
	const users = "/rest/outrigger/1.0/users"
	for _, name := range []string{"ada", "bob", "cyd", "dan"} {
		f.s.Passwords[name] = "the password of " + name
		f.post(ctx, users, object{"name": name, "password": f.s.Passwords[name]}, nil)
	}
	f.post(ctx, users+"/ada/grants", object{"permission": "ADMIN"}, nil)
	f.post(ctx, users+"/dan/grants", object{"permission": "SYS_ADMIN"}, nil)
	f.post(ctx, users+"/dan/disable", nil, nil)
	for name, scope := range map[string]string{"monitor": "monitoring", "host application": "mail", "build server": "builds"} {
		var made struct{ Token string }
		f.post(ctx, "/rest/outrigger/1.0/tokens", object{"name": name, "scope": scope}, &made)
		f.s.Tokens[name] = made.Token
	}
	f.secondFactor(ctx, "ada")
}

var shownSecret = regexp.MustCompile(`\b(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}\b`)

func (f *filler) secondFactor(ctx context.Context, user string) {
	browser := loadtest.NewBrowser(f.p.Addr())
	must(browser.Send(ctx, "/sign-in", url.Values{"user": {user}, "password": {f.s.Passwords[user]}}))
	shown := shownSecret.FindString(must(browser.Send(ctx, "/account/second-factor/app", nil)))
	if shown == "" {
		check(errors.New("the page shows no secret"))
	}
	f.s.App = strings.ReplaceAll(shown, " ", "")
	code := must(totp.GenerateCode(f.s.App, time.Now()))
	page := must(browser.Send(ctx, "/account/second-factor/app", url.Values{"code": {code}}))
	if !strings.Contains(page, "ecovery codes") {
		check(fmt.Errorf("the app was not taken: %.500s", html.UnescapeString(page)))
	}
}
