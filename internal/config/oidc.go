package config

import (
	"net/url"
	"slices"
	"unicode/utf8"

	"outrigger/internal/secret"
)

// OIDC is single sign-on by OpenID Connect.
type OIDC struct {
	Issuer        string       `key:"issuer" else:"no single sign-on"`
	ClientID      string       `key:"client_id" else:"none"`
	ClientSecret  secret.Value `key:"client_secret" else:"none"`
	SecretExpires Date         `key:"client_secret_expires" else:"none"`
	Name          string       `key:"name" default:"single sign-on"`
	Scopes        []string     `key:"scopes" default:"openid,profile"`
	UserClaim     string       `key:"user_claim" default:"preferred_username"`
	GroupsClaim   string       `key:"groups_claim" else:"groups are not used"`
	AdminGroups   []string     `key:"admin_groups" else:"none"`
	AllowedGroups []string     `key:"allowed_groups" else:"every user of the provider"`
	Idle          Duration     `key:"idle" default:"30d"`
}

func (OIDC) words() map[string]string {
	return map[string]string{
		"issuer": "The issuer URL of an OpenID Connect provider, exactly as its configuration at ISSUER/.well-known/openid-configuration " +
			"names it. Users can then sign in on its pages; the redirect URL to enter there is base_url with /sign-in/oidc/callback.",
		"client_id":             "The id of Outrigger's client at the provider.",
		"client_secret":         "The secret of that client.",
		"client_secret_expires": "The day on which that secret ends, such as 2027-01-31. The overview says so 30, 7 and 1 days before.",
		"name":                  "What users call the provider. The button on the sign-in page says: Sign in with NAME.",
		"scopes": "The scopes to ask for. openid must be one of them; add what the provider needs for the claims below, such as email or " +
			"groups.",
		"user_claim": "The claim that names the user: with identity.platform a user of that platform, exactly as it is written there, else " +
			"a user of source oidc. It must be one that users cannot change themselves. email counts only if email_verified is true.",
		"groups_claim": "The claim that lists the user's groups. They count until the user signs in again, for 7 days at most. What a group " +
			"gives is granted on its page under System, Groups, or by outrigger groups grant.",
		"admin_groups":   "The groups whose members have ADMIN, besides those that are granted it. SYS_ADMIN is never given by groups.",
		"allowed_groups": "The groups whose members may sign in.",
		"idle": "How long users of single sign-on may go without a sign-in before they are paused: the provider may not have them any more. " +
			"Until their next sign-in they are refused in the console, and so are their tokens of the scopes all, read and backup; those of " +
			"the scopes monitoring, builds and mail work on. It is said 7 days before, or, where idle is shorter than 14d, half of it. At " +
			"least 2d, since some sign-ins are noted to the day; 0 pauses nobody.",
	}
}

// maxGroupName is how long the names of groups may be that identity keeps.
const maxGroupName = 255

// minIdle leaves a day to say that a user will be paused.
const minIdle = Duration(2 * day)

// On reports whether there is single sign-on.
func (o *OIDC) On() bool { return o.Issuer != "" }

func (c *Config) judgeOIDC(j *judge) {
	const key = "identity.oidc."
	o := &c.Identity.OIDC
	if !o.On() {
		if o.ClientID != "" || !o.ClientSecret.IsZero() {
			j.wrong(key+"issuer", "set the URL of the provider that client_id belongs to")
		}
		return
	}
	judgeURL(j, key+"issuer", o.Issuer)
	if o.ClientID == "" {
		j.wrong(key+"client_id", "set the id of the client that was registered at the provider")
	}
	if o.ClientSecret.IsZero() {
		j.wrong(key+"client_secret", "set the secret of the client; the client must be a confidential one")
	}
	if o.Name == "" {
		j.wrong(key+"name", "set what users call the provider")
	}
	if !slices.Contains(o.Scopes, "openid") {
		j.wrong(key+"scopes", "openid is missing; without it the provider does not say who signs in")
	}
	if o.UserClaim == "" {
		j.wrong(key+"user_claim", "set the claim that names the user, such as preferred_username or email")
	}
	if o.GroupsClaim == "" && (len(o.AdminGroups) > 0 || len(o.AllowedGroups) > 0) {
		j.wrong(key+"groups_claim", "set the claim that lists the user's groups; admin_groups and allowed_groups need it")
	}
	if o.Idle != 0 && o.Idle < minIdle {
		j.wrong(key+"idle", "%s is too short; use at least %s, or 0 to pause nobody", o.Idle, minIdle)
	}
	for _, name := range o.AdminGroups {
		if utf8.RuneCountInString(name) > maxGroupName {
			j.wrong(key+"admin_groups", "use names of at most 255 characters; %.30q… is longer", name)
		}
	}
	if c.BaseURL == "" && !Loopback(c.Listen) {
		j.wrong(key+"issuer", "base_url is missing; the provider sends browsers back there")
	}
}

// chosenByUsers are standard claims that users of most providers can change as they
// like (OpenID Connect Core 1.0, 5.1).
var chosenByUsers = []string{"name", "nickname", "given_name", "family_name"}

// dangersOIDC are sentences about single sign-on that is configured as it should
// not be.
func (c *Config) dangersOIDC(w *sentences) {
	o := &c.Identity.OIDC
	if u, err := url.Parse(o.Issuer); err == nil && u.Scheme == "http" && !thisMachine(u.Hostname()) {
		w.warn("identity.oidc.issuer: %s is plain HTTP, so anyone between this server and %s can sign in as any of its users; use https.",
			o.Issuer, u.Host)
	}
	if o.On() && slices.Contains(chosenByUsers, o.UserClaim) {
		w.warn("identity.oidc.user_claim: users of most providers can change %s, and so sign in under the name of another; use a claim "+
			"that only administrators change, such as preferred_username or email.", o.UserClaim)
	}
}
