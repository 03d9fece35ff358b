package users

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// enableForm asks which of a disabled user's tokens go on.
type enableForm struct {
	*console.Form
	Groups []console.Group
	Back   string
}

func (u *users) enablePage(r *http.Request, form *console.Form, user identity.User) (page console.Page, err error) {
	tokens, err := u.Service.Tokens(r.Context(), user.Ref(), 0, counted)
	if err != nil {
		return page, err
	}
	view := enableForm{Form: form, Back: pageOf(user.Ref(), "")}
	if len(tokens) > 0 {
		view.Groups = []console.Group{{}}
	}
	for _, t := range tokens {
		used := "never used"
		if !t.UsedAt.IsZero() {
			used = "last used " + t.UsedAt.UTC().Format("2006-01-02")
		}
		view.Groups[0].Options = append(view.Groups[0].Options, console.Option{
			Value: strconv.FormatInt(t.ID, 10), Label: t.Name, Hint: fmt.Sprintf("scope %s, %s", t.Scope, used),
		})
	}
	return console.Page{Template: "user-enable", Title: "Enable " + user.Ref(), Up: upTo(user.Ref()), Data: view}, nil
}

func (u *users) blankEnable(r *http.Request) (console.Response, error) {
	if err := u.Service.RequireConfirmed(r.Context()); err != nil { // before tokens are ticked
		return nil, err
	}
	user, err := u.ofPath(r)
	if err != nil {
		return nil, err
	}
	return u.enablePage(r, console.NewForm(), user)
}

func (u *users) enable(r *http.Request, form *console.Form, user identity.User) (console.Response, error) {
	var keep []int64
	for _, text := range form.All("keepTokens") {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fault.InvalidField("keepTokens", "%s has no token %q.", user.Ref(), text)
		}
		keep = append(keep, id)
	}
	ended, err := u.Service.EnableUser(r.Context(), user.Ref(), keep)
	if err != nil {
		page, again := u.enablePage(r, form, user)
		return page, cmp.Or(again, err)
	}
	said := user.Ref() + " is enabled and can sign in again."
	if ended > 0 {
		said += " Tokens that ended: " + strconv.Itoa(ended) + "."
	}
	return console.Redirect{To: pageOf(user.Ref(), ""), Flash: said}, nil
}
