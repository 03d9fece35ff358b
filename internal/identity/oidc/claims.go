package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// claims are what the provider says of the user, by name.
type claims map[string]json.RawMessage

// claims reads those of the ID token and, where it lacks one that is needed, of the
// userinfo endpoint: some providers name groups only there. When the user signed in
// is a claim of ID tokens alone (2: auth_time).
func (p *Provider) claims(ctx context.Context, d *discovered, token *gooidc.IDToken, tokens *oauth2.Token) (claims, error) {
	var all claims
	if err := token.Claims(&all); err != nil {
		return nil, p.lies(err)
	}
	complete := all[p.o.UserClaim] != nil && (p.o.GroupsClaim == "" || all[p.o.GroupsClaim] != nil) &&
		(p.o.UserClaim != "email" || all["email_verified"] != nil)
	if complete || d.provider.UserInfoEndpoint() == "" || p.judge(d.provider.UserInfoEndpoint()) != nil {
		return all, nil
	}
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return nil, p.away(err)
	}
	if info.Subject != token.Subject { // 5.3.2: it must not be used then
		return nil, p.lies(errors.New("the userinfo endpoint answers about another account"))
	}
	var more claims
	if err := info.Claims(&more); err != nil {
		return nil, p.lies(err)
	}
	for name, value := range more {
		if all[name] == nil && name != "auth_time" {
			all[name] = value
		}
	}
	return all, nil
}

// name returns the claim that names the user. An e-mail address counts only where
// the provider has verified it: else users could enter that of another.
func (c claims) name(claim string) (string, error) {
	var name string
	if err := json.Unmarshal(c[claim], &name); err != nil || name == "" {
		return "", fmt.Errorf("there is no claim %s with a text", claim)
	}
	if verified := string(c["email_verified"]); claim == "email" && verified != "true" && verified != `"true"` {
		return "", errors.New("the claim email is not verified (email_verified)")
	}
	return name, nil
}

// list returns the texts of a claim: a list of them, or one.
func (c claims) list(claim string) (texts []string) {
	var one string
	if json.Unmarshal(c[claim], &one) == nil && one != "" {
		return []string{one}
	}
	var all []any
	_ = json.Unmarshal(c[claim], &all) // what is no list has no groups
	for _, v := range all {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// maxSeconds is the end of the year 9999, after which no time is meant.
const maxSeconds = 253402300799

// time returns a claim that is a time in seconds; zero where it is none.
func (c claims) time(claim string) time.Time {
	var seconds float64
	if err := json.Unmarshal(c[claim], &seconds); err != nil || seconds <= 0 || seconds > maxSeconds {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}
