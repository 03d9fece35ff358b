package client

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"outrigger/internal/notify/restclient"
)

// What a refusal means to the callers, in Refusal.Name.
const (
	withdrawn     = "withdrawn"
	codeRefused   = "code refused"
	tokenRefused  = "token refused"
	scopeMissing  = "scope missing"
	clientRefused = "client refused"
)

// Withdrawn reports whether err is the platform's answer to Refresh that the
// account's grant is gone: the person withdrew it, or the consumer may no longer
// ask. Only a new authorisation helps.
func Withdrawn(err error) bool { return named(err, withdrawn) }

// CodeRefused reports whether err is the platform's answer to Exchange that the
// code is used already, too old or of another consumer.
func CodeRefused(err error) bool { return named(err, codeRefused) }

// TokenRefused reports whether err is the API's 401 for an access token: it is too
// old, or the grant is gone. Refresh tells which.
func TokenRefused(err error) bool { return named(err, tokenRefused) }

func named(err error, name string) bool {
	r := restclient.RefusalOf(err)
	return r != nil && r.Name == name
}

// explain reads an error of the API: {"type": "error", "error": {"message",
// "fields", "detail"}}, where fields says what is wrong with each, and detail
// may say which scopes are missing; or one line of plain text.
func explain(r *restclient.Refusal, body []byte) {
	var says struct {
		Error struct {
			Message string
			Fields  map[string][]string
			Detail  json.RawMessage
		}
	}
	if json.Unmarshal(body, &says) != nil {
		r.Words = line(body)
	} else {
		r.Words = says.Error.Message
		for _, name := range slices.Sorted(maps.Keys(says.Error.Fields)) {
			r.Words += "; " + name + ": " + strings.Join(says.Error.Fields[name], " ")
		}
	}
	var missing struct{ Required []string }
	_ = json.Unmarshal(says.Error.Detail, &missing) // a text, or nothing
	switch {
	case r.Status == http.StatusForbidden && len(missing.Required) > 0:
		r.Name = scopeMissing
		r.Advice = "Give the platform's OAuth consumer the permission " + strings.Join(missing.Required,
			", ") + ", and authorise Outrigger again."
	case r.Status == http.StatusUnauthorized:
		r.Name = tokenRefused
	}
}

// line returns a body that is one line of plain text, as a 429 of the platform is;
// "" for a page of something in between.
func line(body []byte) string {
	text := strings.TrimSpace(string(body))
	if !utf8.ValidString(text) || strings.ContainsAny(text, "<>{}\n") {
		return ""
	}
	return text
}

// explainOAuth reads an error of the token endpoint. Where useless says that it
// is the code or the refresh token that is refused, the Refusal is named so.
func explainOAuth(r *restclient.Refusal, body []byte, name string, useless func(restclient.OAuthError) bool) {
	e, ok := restclient.ReadOAuthError(body)
	if !ok {
		return
	}
	r.Words = e.Words()
	switch {
	case r.Status < 400 || r.Status >= 500:
	case ofClient(e):
		r.Name, r.Advice = clientRefused, "Check the connection's OAuth client id and secret."
	case useless(e):
		r.Name = name
	}
}

// ofClient reports whether it is this program's own credentials that are refused.
// The vendor's cloud answers unauthorized_client to wrong ones, "Invalid OAuth
// client credentials".
func ofClient(e restclient.OAuthError) bool {
	return e.Error == "invalid_client" ||
		e.Error == "unauthorized_client" && strings.Contains(strings.ToLower(e.Description), "client credentials")
}

// The vendor's cloud answers invalid_request to a refresh token that it does not
// know, "Invalid refresh_token".
func explainRefresh(r *restclient.Refusal, body []byte) {
	explainOAuth(r, body, withdrawn, func(e restclient.OAuthError) bool {
		return e.Error == "invalid_grant" || e.Error == "unauthorized_client" ||
			e.Error == "invalid_request" && strings.Contains(strings.ToLower(e.Description), "invalid refresh_token")
	})
}

func explainCode(r *restclient.Refusal, body []byte) {
	explainOAuth(r, body, codeRefused, func(e restclient.OAuthError) bool { return e.Error == "invalid_grant" })
}
