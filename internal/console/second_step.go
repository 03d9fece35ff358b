package console

import (
	"cmp"
	"context"
	"errors"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// SecondSteps is what the console asks of identity about second factors and
// passkeys.
type SecondSteps interface {
	AskedFactors(ctx context.Context, pending string) (identity.Factors, error)
	BeginPasskey(ctx context.Context, pending string) (identity.Ceremony, error)
	SecondStep(ctx context.Context, pending string, proof identity.Proof, addr string) (session string, p *identity.Principal, err error)
	BeginPasskeySignIn(ctx context.Context, addr string) (identity.Ceremony, error)
	PasskeySignIn(ctx context.Context, ceremony string, answer []byte, addr string) (session string, p *identity.Principal, err error)
	// Confirm confirms the session of who asks. Unauthenticated: what was shown is
	// wrong.
	Confirm(ctx context.Context, proof identity.Proof, addr string) error
	// UseConfirmCode lets the session of who asks set up the first second factor.
	// Unauthenticated: the code is wrong.
	UseConfirmCode(ctx context.Context, code secret.Value, addr string) error
	// RequireConfirmed is nil where who asks has confirmed lately.
	RequireConfirmed(ctx context.Context) error
	BeginConfirm(ctx context.Context) (identity.Ceremony, error)
	// Factors are those of who asks.
	Factors(ctx context.Context) (identity.Factors, error)
	// NoPasskeys says why there are none; "" where there are.
	NoPasskeys() string
}

// stepCookie is the name of the cookie that finds the sign-in again, while it
// waits for its second step.
func (x *exchange) stepCookie() string { return x.sessionCookie() + "_step" }

// factorPath is the page of the second step, which leads to a page.
func factorPath(to string) string { return Path("/sign-in/factor?to=%s", to) }

// factorView is the form of the second step.
type factorView struct {
	*Form
	To      string
	Factors identity.Factors
	Passkey PasskeyForm
}

// PasskeyForm asks for a passkey, as the template "passkey" shows it; the module
// passkey.js fills it in.
type PasskeyForm struct {
	Action  string   // where the answer is posted, in the member "passkey"
	Prefix  string   // of all members that are posted, where others stand beside them
	Verb    string   // what the button says
	Create  bool     // a new one is made
	Options string   // what navigator.credentials takes, as JSON
	Name    string   // of the ceremony, posted in the member "ceremony"; "" where a cookie has it
	To      string   // posted in the member "to", where there is one
	Kept    []Hidden // posted as well
	Back    string   // where "Cancel" leads, "" for no such button
	Why     string   // why there are no passkeys; "" where there are
}

// showFactor is GET /sign-in/factor.
func (c *Console) showFactor(x *exchange) (Response, error) {
	return x.factorPage(NewForm(), LocalPath(x.r.URL.Query().Get("to")))
}

// factorPage asks for a second factor, or for the first step where that is over.
func (x *exchange) factorPage(form *Form, to string) (Response, error) {
	steps, ctx := x.c.opts.Identity, x.r.Context()
	pending := x.pending()
	factors, err := steps.AskedFactors(ctx, pending)
	if errors.Is(err, identity.ErrStepOver) {
		return x.startOver(to, "")
	}
	if err != nil {
		return nil, err
	}
	view := factorView{Form: form, To: to, Factors: factors}
	if factors.Passkeys > 0 {
		view.Passkey = PasskeyForm{Action: "/sign-in/factor", Verb: "Use a passkey", To: to, Why: steps.NoPasskeys()}
	}
	if factors.Passkeys > 0 && view.Passkey.Why == "" {
		ceremony, err := steps.BeginPasskey(ctx, pending)
		if err != nil {
			return nil, err
		}
		view.Passkey.Options = string(ceremony.Options)
	}
	return Page{Template: factorPage, Title: "Second factor", Data: view}, nil
}

func (x *exchange) pending() string { return x.cookieValue(x.stepCookie()) }

// signInPath is the page of the first step, which leads to a page.
func signInPath(to string) string {
	if to == "/" {
		return "/sign-in"
	}
	return Path("/sign-in?to=%s", to)
}

// startOver goes back to the first step, for what went wrong too often or took too
// long.
func (x *exchange) startOver(to, why string) (Response, error) {
	x.dropCookie(x.stepCookie())
	return Redirect{To: signInPath(to), Flash: why, Tone: Warn}, nil
}

const stepOver = "The sign-in took too long, or its second factor was wrong too often. Start again."

// secondStep is POST /sign-in/factor.
func (c *Console) secondStep(x *exchange) (Response, error) {
	form, err := ReadForm(x.r)
	if err != nil {
		return nil, err
	}
	ctx, to := x.r.Context(), LocalPath(form.Get("to"))
	proof := identity.Proof{Code: secret.New(form.Get("code")), Passkey: []byte(form.Raw("passkey"))}
	if len(proof.Passkey) == 0 && proof.Code.IsZero() {
		return x.refuseFactor(form, to, fault.InvalidField("code", "Enter the code that your app shows, or a recovery code."))
	}
	session, _, err := c.opts.Identity.SecondStep(ctx, x.pending(), proof, identity.OriginOf(ctx).Address)
	switch {
	case errors.Is(err, identity.ErrStepOver):
		return x.startOver(to, stepOver)
	case fault.Is(err, fault.Unauthenticated) && len(proof.Passkey) > 0:
		return x.refuseFactor(form, to, fault.Wrap(err, fault.Unauthenticated, "The passkey was not accepted. Try again, or use a code."))
	case err != nil:
		return x.refuseFactor(form, to, err)
	}
	x.dropCookie(x.stepCookie())
	return x.enter(session, to)
}

// refuseFactor asks again, as often as that is allowed.
func (x *exchange) refuseFactor(form *Form, to string, refusal error) (Response, error) {
	form.Set("code") // is not shown again: it is over
	page, err := x.factorPage(form, to)
	if err != nil {
		return nil, err
	}
	if _, over := page.(Redirect); over {
		return x.startOver(to, stepOver)
	}
	return page, refusal
}

type passkeyView struct {
	*Form
	Passkey PasskeyForm
	Back    string
}

// showPasskeySignIn is GET /sign-in/passkey.
func (c *Console) showPasskeySignIn(x *exchange) (Response, error) {
	to := LocalPath(x.r.URL.Query().Get("to"))
	if x.principal != nil {
		return Redirect{To: to}, nil
	}
	return x.passkeyPage(NewForm(), to)
}

func (x *exchange) passkeyPage(form *Form, to string) (Response, error) {
	steps, ctx := x.c.opts.Identity, x.r.Context()
	view := passkeyView{form, PasskeyForm{Action: "/sign-in/passkey", Verb: "Sign in with a passkey", To: to, Why: steps.NoPasskeys()},
		signInPath(to)}
	if view.Passkey.Why == "" {
		ceremony, err := steps.BeginPasskeySignIn(ctx, identity.OriginOf(ctx).Address)
		if err != nil {
			return nil, err
		}
		view.Passkey.Name, view.Passkey.Options = ceremony.Name, string(ceremony.Options)
	}
	return Page{Template: passkeyPage, Title: "Sign in with a passkey", Data: view}, nil
}

// passkeySignIn is POST /sign-in/passkey.
func (c *Console) passkeySignIn(x *exchange) (Response, error) {
	form, err := ReadForm(x.r)
	if err != nil {
		return nil, err
	}
	ctx, to := x.r.Context(), LocalPath(form.Get("to"))
	session, _, err := c.opts.Identity.PasskeySignIn(ctx, form.Get("ceremony"), []byte(form.Raw("passkey")), identity.OriginOf(ctx).Address)
	if err == nil {
		return x.enter(session, to)
	}
	if !fault.Is(err, fault.Unauthenticated) && !fault.Is(err, fault.RateLimited) && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	page, again := x.passkeyPage(form, to)
	if errors.Is(err, identity.ErrStepOver) {
		err = fault.Wrap(err, fault.Unauthenticated, "This took too long. Try again.")
	} else if fault.Is(err, fault.Unauthenticated) {
		err = fault.Wrap(err, fault.Unauthenticated, "No user signs in with this passkey. Sign in with your name and password, and register "+
			"it under Your account.")
	}
	return page, cmp.Or(again, err)
}
