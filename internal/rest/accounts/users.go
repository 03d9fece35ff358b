package accounts

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

type user struct {
	Name            string    `json:"name"`
	Source          string    `json:"source"`
	CreatedAt       time.Time `json:"createdAt"`
	PasswordAt      time.Time `json:"passwordChangedAt"`
	InitialPassword bool      `json:"initialPassword"`
	SignedInAt      time.Time `json:"lastSignInAt,omitzero"`
	Enabled         bool      `json:"enabled"`
	DisabledAt      time.Time `json:"disabledAt,omitzero"`
	Paused          bool      `json:"paused,omitempty"`
	PausesAt        time.Time `json:"pausesAt,omitzero"`
	Factors         factors   `json:"secondFactor"`
	Grants          []grant   `json:"grants"`
}

func userOf(u identity.User) user {
	return user{u.Name, u.Source, u.CreatedAt, u.PasswordAt, u.Initial, u.SignedInAt, !u.Disabled(), u.DisabledAt, u.Pause.Begun, u.Pause.At, factorsOf(u.Factors), mapped(u.Grants, grantOf)}
}

func mapped[A, B any](as []A, f func(A) B) []B {
	bs := make([]B, len(as))
	for i, a := range as {
		bs[i] = f(a)
	}
	return bs
}

func (e endpoints) listUsers(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	users, err := e.identity.Users(r.Context(), page.After, page.Limit+1)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, users, identity.User.Ref, userOf))
}

func (e endpoints) createUser(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		user
		Password secret.Value `json:"password"`
	}
	var wrong fault.Fields
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	if err := fault.Every(wrong.Err(), identity.JudgeUser(in.Name, in.Password)); err != nil {
		return err
	}
	u, err := e.identity.CreateUser(r.Context(), in.Name, in.Password)
	if err != nil {
		return err
	}
	w.Header().Set("Location", rest.Link(r.Context(), root+"/users/"+url.PathEscape(u.Name)))
	return rest.WriteJSON(w, r, http.StatusCreated, userOf(u))
}

func (e endpoints) user(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if err := selfOr(r.Context(), name); err != nil {
		return err
	}
	u, err := e.identity.User(r.Context(), name)
	if err != nil {
		return err
	}
	dependents, err := e.identity.Dependents(r.Context(), name)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		user
		Dependents []string `json:"dependents,omitempty"`
	}{userOf(u), dependents})
}

func (e endpoints) deleteUser(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, e.identity.DeleteUser(r.Context(), r.PathValue("name")))
}

func (e endpoints) disableUser(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, e.identity.DisableUser(r.Context(), r.PathValue("name")))
}

func (e endpoints) enableUser(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		KeepTokens []int64 `json:"keepTokens"`
	}
	body := bufio.NewReader(r.Body)
	if _, err := body.Peek(1); !errors.Is(err, io.EOF) { // a body is not needed
		r.Body = io.NopCloser(body)
		if err := rest.ReadJSON(r, &in); err != nil {
			return err
		}
	}
	_, err := e.identity.EnableUser(r.Context(), r.PathValue("name"), in.KeepTokens)
	return noContent(w, err)
}

// setPassword changes a password. Who changes his own shows the old one too,
// so that a session left open is not enough.
func (e endpoints) setPassword(w http.ResponseWriter, r *http.Request) error {
	ctx, name := r.Context(), r.PathValue("name")
	if err := selfOr(ctx, name); err != nil {
		return err
	}
	var in struct {
		Password secret.Value `json:"password"`
		Current  secret.Value `json:"currentPassword"`
		// Whoever knew the old password may have made tokens.
		EndTokens bool `json:"endTokens"`
	}
	in.EndTokens = true
	var wrong fault.Fields
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	if self(ctx, name) {
		err := e.identity.CheckPassword(ctx, name, in.Current.Reveal(), rest.ClientAddr(ctx))
		switch {
		case fault.Is(err, fault.Unauthenticated):
			wrong.Add("currentPassword", "This is not your current password.")
		case err != nil:
			return err
		}
	}
	if err := fault.Every(wrong.Err(), identity.JudgePassword(name, in.Password)); err != nil {
		return err
	}
	err := e.identity.SetPassword(ctx, name, in.Password)
	if err == nil && in.EndTokens {
		_, err = e.identity.RevokeTokens(ctx, name)
	}
	return noContent(w, err)
}
