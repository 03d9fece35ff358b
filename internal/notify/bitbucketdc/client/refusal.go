package client

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/notify/restclient"
)

// lockPause follows wrong credentials: the platform locks an account behind a captcha
// after some wrong passwords, so that asking again does harm.
const lockPause = 10 * time.Minute

// Refused reports whether err is the platform's answer to this one request, such
// as that the account may not see a project: others may well be answered.
func Refused(err error) bool {
	r := restclient.RefusalOf(err)
	if r == nil {
		return false
	}
	switch r.Status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict:
		return true
	}
	return unpermitted(r)
}

// unpermitted reports whether the account lacks a permission: 403, or 401, which
// the platform answers for that as for wrong credentials.
func unpermitted(r *restclient.Refusal) bool {
	return r.Status == http.StatusForbidden || r.Status == http.StatusUnauthorized && strings.HasSuffix(r.Name, "AuthorisationException")
}

// explain reads what the platform says in the body of an error, which may be of
// something else in between.
func explain(r *restclient.Refusal, body []byte) {
	var says struct {
		Errors []struct{ Message, ExceptionName string }
	}
	_ = json.Unmarshal(body, &says) // what is not the platform's says nothing
	var all []string
	for _, e := range says.Errors {
		if r.Name == "" {
			r.Name = e.ExceptionName
		}
		if e.Message != "" {
			all = append(all, e.Message)
		}
	}
	r.Words = strings.Join(all, " ")
	switch {
	case unpermitted(r):
		r.Advice = "Give the connection's account the permission on the platform."
	case r.Status == http.StatusUnauthorized:
		r.Advice = "Check the user and the token."
		r.Pause = lockPause
	}
}
