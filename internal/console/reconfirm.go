package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// confirmPrefix is in front of the members of the page that asks who is there, so
// that those of the form that it keeps stay as they are.
const confirmPrefix = "confirm-"

// FactorsPath is where users set up second factors.
const FactorsPath = "/account/second-factor"

// confirmYouView asks for the password or a second factor again.
type confirmYouView struct {
	*Form
	User    string // the user's Ref
	Source  string // of the user, whose password it is
	Factors identity.Factors
	Passkey PasskeyForm
	Once    bool     // a one-time code of an administrator is asked for: there may be nothing else to show
	Again   []Link   // the providers to sign in with again
	Posted  bool     // what was typed is kept here, and the provider's page opens in another window
	Kept    []Hidden // what was typed before, and where it goes
	Back    string
}

// waiting is what a request wanted that has to be confirmed first.
type waiting struct {
	to   string
	form url.Values // that was posted there; nil for a page that was asked for
}

// confirmFirst asks for a confirmation, after which the request goes on as it was.
func (x *exchange) confirmFirst() {
	to := x.path
	if q := x.r.URL.RawQuery; q != "" {
		to += "?" + q
	}
	if x.r.Method != http.MethodPost {
		http.Redirect(x.w, x.r, x.c.base+Path("/confirm?to=%s", to), http.StatusSeeOther)
		return
	}
	page, err := x.confirmYou(NewForm(), waiting{to, x.r.PostForm})
	if err == nil {
		err = page.respond(x)
	}
	if err != nil {
		x.fail(err)
	}
}

// showConfirm is GET /confirm.
func (c *Console) showConfirm(x *exchange) (Response, error) {
	return x.confirmYou(NewForm(), waiting{to: LocalPath(x.r.URL.Query().Get("to"))})
}

func (x *exchange) confirmYou(form *Form, w waiting) (Response, error) {
	steps, ctx := x.c.opts.Identity, x.r.Context()
	factors, err := steps.Factors(ctx)
	if err != nil {
		return nil, err
	}
	view := confirmYouView{Form: form, User: x.principal.Ref(), Source: x.principal.Source, Factors: factors, Again: x.again(w.to),
		Kept: w.kept(x.userID()), Back: "/"}
	view.Once = view.Source != identity.Local && !factors.On() && x.principal.ConfirmedAt.IsZero()
	if w.form != nil {
		view.Again, view.Posted = x.again("/"), true
	}
	if factors.Passkeys > 0 && steps.NoPasskeys() == "" {
		ceremony, err := steps.BeginConfirm(ctx)
		if err != nil {
			return nil, err
		}
		view.Passkey = PasskeyForm{Action: "/confirm", Prefix: confirmPrefix, Verb: "Use a passkey", Options: string(ceremony.Options),
			Name: ceremony.Name, Kept: view.Kept}
	}
	return Page{Template: confirmYouPage, Title: "Confirm that it is you", Data: view}, nil
}

// enrolling is what goes on after a one-time code, which is for setting up a second
// factor alone.
func (w waiting) enrolling() waiting {
	if strings.HasPrefix(w.to, FactorsPath) {
		return w
	}
	return waiting{to: FactorsPath}
}

// userID names the user who asks in forms that wait.
func (x *exchange) userID() string { return strconv.FormatInt(x.principal.UserID, 10) }

// kept are the hidden fields that go on with what was wanted, of a user.
func (w waiting) kept(user string) []Hidden {
	kept := []Hidden{{confirmPrefix + "to", w.to}}
	if w.form == nil {
		return kept
	}
	kept = append(kept, Hidden{confirmPrefix + "post", "true"}, Hidden{confirmPrefix + "user", user})
	names := make([]string, 0, len(w.form))
	for name := range w.form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, confirmPrefix) {
			continue
		}
		for _, value := range w.form[name] {
			kept = append(kept, Hidden{name, value})
		}
	}
	return kept
}

// confirm is POST /confirm.
func (c *Console) confirm(x *exchange) (Response, error) {
	form, err := ReadForm(x.r)
	if err != nil {
		return nil, err
	}
	w := waiting{to: LocalPath(form.Get(confirmPrefix + "to"))}
	if form.Bool(confirmPrefix + "post") {
		if w.form = x.r.PostForm; form.Get(confirmPrefix+"user") != x.userID() {
			return nil, fault.New(fault.Conflict, "Another user than %s, who is signed in now, filled in this form. Sign in as that user again, "+
				"or fill in the form again.", x.principal.Ref())
		}
	}
	proof := identity.Proof{
		Password: secret.New(form.Raw(confirmPrefix + "password")), Code: secret.New(form.Get(confirmPrefix + "code")),
		Passkey: []byte(form.Raw(confirmPrefix + "passkey")), Ceremony: form.Get(confirmPrefix + "ceremony"),
	}
	ctx := x.r.Context()
	once := secret.New(form.Get(confirmPrefix + "once"))
	switch {
	case c.opts.Identity.RequireConfirmed(ctx) == nil: // in another window
	case !once.IsZero():
		if err = c.opts.Identity.UseConfirmCode(ctx, once, identity.OriginOf(ctx).Address); err == nil {
			w = w.enrolling()
		}
	case !proof.Code.IsZero() || len(proof.Passkey) > 0 || !proof.Password.IsZero() && x.principal.Source != identity.SingleSignOn:
		err = c.opts.Identity.Confirm(ctx, proof, identity.OriginOf(ctx).Address)
	case x.principal.Source == identity.SingleSignOn:
		err = fault.New(fault.Conflict, "Sign in again first, with the button on this page, or enter a code where the page asks for one.")
	default:
		err = fault.InvalidField(confirmPrefix+"password", "Enter your password.")
	}
	switch {
	case fault.Is(err, fault.Unauthenticated) && once.IsZero():
		err = fault.Wrap(err, fault.Unauthenticated, "This is not right. Try again.")
	case err == nil && w.form != nil:
		return resend{w.to}, nil
	case err == nil:
		return Redirect{To: w.to}, nil
	}
	form.Set(confirmPrefix + "code").Set(confirmPrefix + "once")
	page, again := x.confirmYou(form, w)
	return page, cmp.Or(again, err)
}

// resend has the browser send the same form to another page.
type resend struct{ to string }

func (s resend) respond(x *exchange) error {
	http.Redirect(x.w, x.r, x.c.base+s.to, http.StatusTemporaryRedirect)
	return nil
}
