package users

import (
	"net/http"
	"strings"

	"outrigger/internal/accounts/grants"
	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/phrase"
)

func (u *users) askDisable(r *http.Request, user identity.User) (console.Response, error) {
	sessions, _, err := u.count(r.Context(), user)
	if err != nil {
		return nil, err
	}
	accounts, err := u.accounts(r, user, "is not used meanwhile")
	if err != nil {
		return nil, err
	}
	text := []string{"The password and tokens are refused until you enable the user again. Grants, tokens and rules are kept."}
	return console.Confirm{
		Up:    upTo(user.Ref()),
		Title: "Disable " + user.Ref() + "?", Text: strings.Join(append(text, accounts...), " "),
		Losses: losses(sessions, 0), Verb: "Disable the user", Keep: "Keep the user enabled", Back: pageOf(user.Ref(), ""),
	}, nil
}

// losses are what ends, where there is any.
func losses(sessions, tokens int) (lost []string) {
	if sessions > 0 {
		lost = append(lost, phrase.Count(sessions, "session")+", with unsaved input")
	}
	if tokens > 0 {
		lost = append(lost, phrase.Count(tokens, "token"))
	}
	return lost
}

// accounts says what becomes of the accounts that a user authorised.
func (u *users) accounts(r *http.Request, user identity.User, what string) (sentences []string, err error) {
	list, err := u.Options.Accounts(r.Context(), user)
	for _, a := range list {
		sentences = append(sentences, "T"+a.String()[1:]+" "+what+".")
	}
	return sentences, err
}

func (u *users) disable(r *http.Request) (console.Response, error) {
	name := r.PathValue("name")
	err := u.Service.DisableUser(r.Context(), name)
	return console.Redirect{To: pageOf(name, ""), Flash: name + " is disabled and signed out everywhere."}, err
}

func (u *users) askDelete(r *http.Request, user identity.User) (console.Response, error) {
	sessions, tokens, err := u.count(r.Context(), user)
	if err != nil {
		return nil, err
	}
	accounts, err := u.accounts(r, user, "is withdrawn and its tokens are deleted; authorise another account for its rules")
	if err != nil {
		return nil, err
	}
	text := []string{"You cannot undo this. To keep the user out without losing anything, disable the user instead. Rules stay."}
	switch user.Source {
	case identity.Local:
	case identity.SingleSignOn:
		text = append(text, "Single sign-on still knows the user, who can sign in again as a new one.")
	default:
		text = append(text, "The platform "+user.Source+" still knows the user, who can sign in again as a new one.")
	}
	lost := losses(sessions, tokens)
	for _, g := range user.Grants {
		lost = append(lost, "the permission: "+grants.Sentence(g))
	}
	return console.Confirm{
		Up:    upTo(user.Ref()),
		Title: "Delete " + user.Ref() + "?", Text: strings.Join(append(text, accounts...), " "),
		Losses: lost, Verb: "Delete the user", Keep: "Keep the user", Back: pageOf(user.Ref(), ""),
	}, nil
}

func (u *users) delete(r *http.Request) (console.Response, error) {
	name := r.PathValue("name")
	err := u.Service.DeleteUser(r.Context(), name)
	return console.Redirect{To: path, Flash: "The user " + name + " was deleted."}, err
}
