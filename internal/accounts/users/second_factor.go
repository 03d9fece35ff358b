package users

import (
	"net/http"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/phrase"
)

// factorsText says what a user signs in with beside the password.
func factorsText(f identity.Factors) string {
	var parts []string
	if f.App {
		parts = append(parts, "an authenticator app")
	}
	if f.Passkeys > 0 {
		parts = append(parts, phrase.Count(f.Passkeys, "passkey"))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(append(parts, phrase.Count(f.Recovery, "unused recovery code")), ", ")
}

// askRemoveFactors is about the second factors of others: one's own are on the
// pages of the account.
func (u *users) askRemoveFactors(r *http.Request) (console.Response, error) {
	if err := u.Service.RequireConfirmed(r.Context()); err != nil {
		return nil, err
	}
	user, err := u.ofPath(r)
	if err != nil {
		return nil, err
	}
	if !user.Factors.On() {
		return nil, fault.New(fault.Conflict, "%s has no second factor.", user.Ref())
	}
	sessions, _, err := u.count(r.Context(), user)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Up:     upTo(user.Ref()),
		Title:  "Remove the second factor of " + user.Ref() + "?",
		Text:   "Do this for a user who lost it, once you know that the user asks. " + until(user),
		Losses: append([]string{factorsText(user.Factors)}, losses(sessions, 0)...),
		Verb:   "Remove the second factor", Keep: "Keep the second factor", Back: pageOf(user.Ref(), ""),
	}, nil
}

// until says what a user without a second factor can do.
func until(user identity.User) string {
	if user.Source == identity.Local {
		return "Until the user sets up another one, the password alone is enough to sign in."
	}
	return "Whether the user may sign in is up to the provider or platform, as before."
}

func (u *users) removeFactors(r *http.Request) (console.Response, error) {
	name := r.PathValue("name")
	err := u.Service.RemoveFactors(r.Context(), name)
	return console.Redirect{
		To: pageOf(name, ""), Flash: "The second factor of " + name + " was removed. The user is signed out everywhere.",
	}, err
}
