package notify

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// Connection is one code-hosting platform, whose webhooks come in at
// /hooks/{name}. Members that have a name in JSON are fields of its form.
type Connection struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`    // "bitbucket-dc" or "bitbucket-cloud"
	BaseURL string `json:"baseUrl"` // of the platform; links in cards begin with it
	User    string `json:"user"`    // of the account for the platform's REST API
	Token   secret.Value
	// ManageWebhooks lets this program create webhooks on the platform: the only
	// thing that it ever writes there.
	ManageWebhooks bool `json:"manageWebhooks"`
	// OAuthClientID and OAuthClientSecret are of this program's client at a cloud
	// platform, by which users authorise their accounts.
	OAuthClientID     string `json:"oauthClientId"`
	OAuthClientSecret secret.Value
	Unsigned          bool // webhooks are taken without a signature when there is no secret
	Decode            Decoder

	// Of the configuration file alone: it is read-only, and its own hook has
	// these secrets.
	File    bool
	Secrets []secret.Value

	Version   int64 `json:"version"` // counts saves; 0 for one of the file
	CreatedBy string
	CreatedAt time.Time
	UpdatedBy string
	UpdatedAt time.Time
	ServerAt  time.Time // since when BaseURL names this server; zero of the file's
}

// Decoder turns the body of a verified webhook into events, which share no
// memory with it. header is the event key in the request's header, key the one of the
// events. It returns neither events nor an error for what no rule can take.
//
// Errors: fault.Invalid for a body that is not one JSON value in UTF-8, is
// nested too deep or has another key than the header; ErrUnknownKey for a key
// that it does not know; ErrNotUnderstood for JSON that is not what the key
// promises.
type Decoder func(header string, body []byte, baseURL string) (key string, events []Event, err error)

// maxCredential is how many bytes a base URL, a user name or a token may have: those of
// the platforms have under 100.
const maxCredential = 500

// shortName matches what fits in a webhook URL without escaping.
var shortName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func checkShortName(f *fault.Fields, field, name string) {
	if !shortName.MatchString(name) {
		f.Add(field, "A name has 1 to 63 lower-case letters, digits and dashes, and no dash at either end.")
	}
}

// Validate names every wrong member at once. kinds are those that there is a
// decoder for.
func (c *Connection) Validate(kinds map[string]Decoder) error {
	var f fault.Fields
	checkShortName(&f, "name", c.Name)
	if kinds[c.Kind] == nil {
		f.Add("kind", "%q is not a kind of platform; use bitbucket-dc or bitbucket-cloud.", c.Kind)
	}
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		f.Add("baseUrl", "Write it as https://host or https://host/path.")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		f.Add("baseUrl", "A base URL has a scheme, a host and perhaps a path, and nothing else.")
	case len(c.BaseURL) > maxCredential:
		f.Add("baseUrl", "It has at most %d bytes.", maxCredential)
	}
	if len(c.User) > maxCredential {
		f.Add("user", "It has at most %d bytes.", maxCredential)
	}
	if len(c.Token.Reveal()) > maxCredential {
		f.Add("token", "It has at most %d bytes.", maxCredential)
	}
	if c.User != "" && c.Token.IsZero() {
		f.Add("token", "Give the user's password or token too.")
	}
	c.validateOAuth(&f)
	if c.ManageWebhooks && c.Token.IsZero() && c.Edition() == SelfHosted {
		f.Add("manageWebhooks", "Webhooks are created by an account that administers the projects; give its token too.")
	}
	return f.Err()
}

// validateOAuth validates the OAuth client.
func (c *Connection) validateOAuth(f *fault.Fields) {
	if c.Edition() != Cloud && (c.OAuthClientID != "" || !c.OAuthClientSecret.IsZero()) {
		f.Add("oauthClientId", "Only a cloud platform has an OAuth client; leave it out.")
		return
	}
	switch {
	case len(c.OAuthClientID) > maxCredential:
		f.Add("oauthClientId", "It has at most %d bytes.", maxCredential)
	case c.OAuthClientID == "" && !c.OAuthClientSecret.IsZero():
		f.Add("oauthClientId", "Give the key of the OAuth client too.")
	case c.OAuthClientID != "" && c.OAuthClientSecret.IsZero():
		f.Add("oauthClientSecret", "Give the secret of the OAuth client too.")
	case len(c.OAuthClientSecret.Reveal()) > maxCredential:
		f.Add("oauthClientSecret", "It has at most %d bytes.", maxCredential)
	}
}

// HasOAuth reports whether users can authorise accounts of the platform.
func (c *Connection) HasOAuth() bool {
	return c.Edition() == Cloud && c.OAuthClientID != "" && !c.OAuthClientSecret.IsZero()
}

// KindBitbucketCloud is the kind of the cloud edition.
const KindBitbucketCloud = "bitbucket-cloud"

// Edition returns the edition of the platform.
func (c *Connection) Edition() Edition {
	if c.Kind == KindBitbucketCloud {
		return Cloud
	}
	return SelfHosted
}

// Answers reports whether the connection's platform can be asked for builds, groups,
// projects and their webhooks: any account of a self-hosted one may ask for the first
// two, and one that administers the projects for their webhooks.
func (c *Connection) Answers() bool {
	return c.Edition() == SelfHosted && !c.Token.IsZero()
}

// Connections are the platforms, by name.
type Connections []Connection

// Of returns those of an edition.
func (cs Connections) Of(e Edition) Connections {
	var of Connections
	for i := range cs {
		if cs[i].Edition() == e {
			of = append(of, cs[i])
		}
	}
	return of
}

// Find returns the connection of that name, or nil.
func (cs Connections) Find(name string) *Connection {
	for i := range cs {
		if cs[i].Name == name {
			return &cs[i]
		}
	}
	return nil
}

// Names lists the connections by name.
func (cs Connections) Names() []string {
	names := make([]string, len(cs))
	for i := range cs {
		names[i] = cs[i].Name
	}
	slices.Sort(names)
	return names
}

// Resolve returns the name that a caller means: the one given, or the only one.
func (cs Connections) Resolve(name string) (string, error) {
	switch {
	case name == "" && len(cs) == 1:
		return cs[0].Name, nil
	case len(cs) == 0:
		return "", fault.InvalidField("connection", "There are no connections yet. Add one first.")
	case name == "":
		return "", fault.InvalidField("connection", "Choose a connection: %s.", strings.Join(cs.Names(), ", "))
	case cs.Find(name) == nil:
		return "", fault.InvalidField("connection", "There is no connection %s; there is %s.", name, strings.Join(cs.Names(), ", "))
	}
	return name, nil
}

// Audited returns what the audit trail keeps of a connection: of its secrets only whether
// there are any.
func (c *Connection) Audited() map[string]string {
	if c == nil {
		return nil
	}
	m := map[string]string{"kind": c.Kind, "baseUrl": c.BaseURL, "user": c.User}
	if !c.Token.IsZero() {
		m["token"] = "••••"
	}
	if c.ManageWebhooks {
		m["manageWebhooks"] = "true"
	}
	if c.OAuthClientID != "" {
		m["oauthClientId"] = c.OAuthClientID
	}
	if !c.OAuthClientSecret.IsZero() {
		m["oauthClientSecret"] = "••••"
	}
	return m
}

// Present is the connection's version.
func (c *Connection) Present() Present {
	return Present{"connection", c.Version, c.UpdatedBy, c.UpdatedAt}
}
