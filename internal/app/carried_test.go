package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/secret"
)

const oldPassword, newPassword = "a good long password", "another good password"

// restoreOver stops the server, restores a file over its database, and starts it again.
func (w *revival) restoreOver(file string) (*revival, string) {
	w.t.Helper()
	w.stop()
	replaced, err := w.command().Restore(w.t.Context(), file)
	if err != nil || replaced.Why != nil {
		w.t.Fatal(err, replaced.Why)
	}
	return w.again(), replaced.Carried
}

// withApp sets up an authenticator app, and gives its secret and the recovery codes.
func (w *revival) withApp(user string) (key string, recovery []secret.Value) {
	w.t.Helper()
	u, err := w.identity.User(w.t.Context(), user)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx := identity.With(w.t.Context(), &identity.Principal{UserID: u.ID, Name: u.Name, Source: identity.Local, Scope: identity.All, ConfirmedAt: time.Now()})
	app, err := w.identity.SetUpApp(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	recovery, err = w.identity.UseApp(ctx, secret.New(codeOf(w.t, app.Secret.Reveal(), -1)))
	if err != nil {
		w.t.Fatal(err)
	}
	return app.Secret.Reveal(), recovery
}

// codeOf returns what the app shows some steps from now.
func codeOf(t *testing.T, key string, steps int) string {
	t.Helper()
	code, err := identitytest.App{Secret: key}.Code(steps, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// signs tries the password and, where that is asked for, a code.
func (w *revival) signs(user, password, code string) error {
	w.t.Helper()
	_, _, err := w.identity.SignIn(w.t.Context(), user, password, "127.0.0.1")
	var needed *identity.FactorNeeded
	if errors.As(err, &needed) && code != "" {
		_, _, err = w.identity.SecondStep(w.t.Context(), needed.Pending, identity.Proof{Code: secret.New(code)}, "127.0.0.1")
	}
	return err
}

// Whatever ended after the backup stays ended, for several users each: deleted and
// disabled users, passwords, codes that were used, factors, grants. What was there
// and stays is there, and what others did meanwhile is gone.
func TestARestoreCarriesOverWhatEnded(t *testing.T) {
	t.Parallel()
	w := newRevival(t, settings(t))
	ctx, apps, recovery := t.Context(), map[string]string{}, map[string][]secret.Value{}
	for _, user := range []string{"ann", "bob"} {
		apps[user], recovery[user] = w.withApp(user)
	}
	file := savedBackup(t, w.App)
	used := map[string]string{}
	for _, user := range []string{"ann", "bob"} {
		used[user] = codeOf(t, apps[user], 1)
		for _, code := range []string{used[user], recovery[user][0].Reveal()} {
			if err := w.signs(user, oldPassword, code); err != nil {
				t.Fatal(err)
			}
		}
	}
	admin, err := w.identity.User(ctx, "cem")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		w.identity.SetPassword(ctx, "bob", secret.New(newPassword)), w.identity.SetPassword(ctx, "cem", secret.New(newPassword)),
		w.identity.Revoke(ctx, "cem", admin.Grants[0].ID),
		w.identity.RevokeToken(ctx, w.tokens["cem builds"].ID), w.identity.DisableUser(ctx, "dan"), w.identity.DeleteUser(ctx, "eve"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.identity.CreateUser(ctx, "fay", secret.New(oldPassword)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var said string
		w, said = w.restoreOver(file)
		wants(t, "what the command says", said, "Deleted users: eve.", "Disabled users: dan.", "Passwords changed of: bob, cem.", "Permissions revoked: 1.", "Tokens revoked: 1.")
		for _, one := range []struct{ what, user, password, code string }{
			{"a used code", "ann", oldPassword, used["ann"]}, {"a used recovery code", "ann", oldPassword, recovery["ann"][0].Reveal()},
			{"no code", "ann", oldPassword, ""}, {"the old password", "bob", oldPassword, recovery["bob"][5].Reveal()},
			{"the old password", "cem", oldPassword, ""}, {"a disabled user", "dan", oldPassword, ""}, {"a deleted user", "eve", oldPassword, ""},
			{"a user of after the backup", "fay", oldPassword, ""},
		} {
			if err := w.signs(one.user, one.password, one.code); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s of %s: %v", one.what, one.user, err)
			}
		}
		for user, password := range map[string]string{"bob": newPassword, "cem": newPassword, "admin": password} {
			code := ""
			if user == "bob" {
				code = recovery[user][9].Reveal()
			}
			if err := w.signs(user, password, code); err != nil && user != "bob" {
				t.Errorf("%s: %v", user, err)
			}
		}
		if u, err := w.identity.User(ctx, "cem"); err != nil || len(u.Grants) != 0 {
			t.Errorf("the revoked grant: %+v, %v", u.Grants, err)
		}
		if w.works("cem builds") || w.works("eve mail") || w.works("dan mail") || !w.works("ann all") {
			t.Error("tokens of users who are gone work, or those of others do not")
		}
		if status, body := get(t, w.URL()+"/rest/outrigger/1.0/audit?area=identity", asAdmin); status != http.StatusOK || !strings.Contains(body, `"carry over"`) {
			t.Errorf("the audit trail: %d %.300s", status, body)
		}
	}
}

// A backup whose administrators were removed since gives none of them back, and says
// how to make one; a backup that is later than what it replaces carries nothing over.
func TestARestoreWithoutAnAdministrator(t *testing.T) {
	t.Parallel()
	w := newRevival(t, settings(t))
	monday := savedBackup(t, w.App)
	for _, user := range []string{"gus", "hal"} { // of after the backup
		if _, err := w.identity.CreateUser(t.Context(), user, secret.New(oldPassword)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.identity.Grant(t.Context(), user, identity.SysAdmin, identity.Resource{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range append([]string{"admin"}, append(ended, stay...)...) {
		if err := w.identity.DeleteUser(t.Context(), user); err != nil {
			t.Fatal(err)
		}
	}
	w, said := w.restoreOver(monday)
	wants(t, "what the command says", said, "No administrator is left", "outrigger users add NAME --local")
	w.stop()
	command := w.command()
	service, err := command.StartAccounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	users, err := service.Users(t.Context(), "", 100)
	if err := errors.Join(err, command.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, u := range users {
		if u.Name != "admin" || u.CreatedAt.After(time.Now()) {
			t.Errorf("%s is back: %v", u.Name, err)
		}
	}

	w = newRevival(t, settings(t))
	monday = savedBackup(t, w.App)
	if _, err := w.identity.CreateUser(t.Context(), "gus", secret.New(oldPassword)); err != nil {
		t.Fatal(err)
	}
	wednesday := savedBackup(t, w.App)
	w, _ = w.restoreOver(monday) // by mistake
	w.stop()
	replaced, err := w.command().Restore(t.Context(), wednesday)
	if err != nil || replaced.Why == nil {
		t.Fatalf("%+v, %v", replaced, err)
	}
	w = w.again()
	if err := w.signs("gus", oldPassword, ""); err != nil {
		t.Errorf("a user whom the earlier state did not know: %v", err)
	}
	if w.works("ann all") || !w.works("ann mail") {
		t.Error("tokens do not rest")
	}
}

// An administrator keeps tokens while confirming, by the page, and later over REST; two
// who keep the same are one who does; ids that do not rest are named, and nothing is
// confirmed.
func TestTokensAreKept(t *testing.T) {
	t.Parallel()
	w := newRevival(t, settings(t))
	w.stop()
	if err := w.command().MarkRestored(t.Context()); err != nil {
		t.Fatal(err)
	}
	w = w.again()
	id := func(name string) string { return fmt.Sprint(w.tokens[name].ID) }
	post := func(body string) (int, string) {
		return put(t, w.App, "POST", "/rest/outrigger/1.0/backup/confirm", body)
	}
	for what, body := range map[string]string{"unknown": `{"keepTokens":[999]}`, "that works": `{"keepTokens":[` + id("ann mail") + `]}`, "no number": `{"keepTokens":["x"]}`} {
		if status, answer := post(body); status != http.StatusBadRequest || !strings.Contains(answer, `"field":"keepTokens`) || !heldBack(t, w.App) {
			t.Errorf("a token %s: %d %s", what, status, answer)
		}
	}
	for _, path := range []string{"/system/backup", "/system/backup/confirm"} {
		_, page := consolePage(t, w.App, path, nil)
		wants(t, path, page, "passwords and second factors are those of the restored state", "ann all", "eve read", "dan monitoring")
	}
	status, page := consolePage(t, w.App, "/system/backup/confirm", url.Values{"keep": {id("ann all"), id("bob read")}})
	if status != http.StatusSeeOther || !w.works("ann all") || !w.works("bob read") || w.works("ann read") {
		t.Errorf("kept on the page: %d %s", status, page)
	}
	if status, body := get(t, w.URL()+"/rest/outrigger/1.0/backup/confirm", asAdmin); status != http.StatusOK || strings.Contains(body, `"ann all"`) || !strings.Contains(body, `"eve all"`) {
		t.Errorf("the state: %d %s", status, body)
	}
	answers := make(chan int, 2)
	for range 2 {
		go func() {
			status, _ := post(`{"keepTokens":[` + id("eve all") + `,` + id("eve read") + `]}`)
			answers <- status
		}()
	}
	if sum := <-answers + <-answers; sum != http.StatusNoContent+http.StatusBadRequest {
		t.Errorf("two who keep the same: the sum of the answers is %d", sum)
	}
	if !w.works("eve all") || !w.works("eve read") || w.works("cem all") {
		t.Error("they do not work again, or others do")
	}
	if status, body := post(`{}`); status != http.StatusConflict {
		t.Errorf("nothing to confirm: %d %s", status, body)
	}
}
