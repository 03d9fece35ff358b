package notify

import (
	"slices"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// Connection is one code-hosting platform whose webhooks come in at
// /hooks/{name}.
type Connection struct {
	Name     string
	Kind     string // such as "bitbucket-dc"
	BaseURL  string // of the platform; links in cards begin with it
	Secrets  []secret.Value
	Unsigned bool // webhooks are taken without a signature when there is no secret
	Decode   Decoder
}

// Decoder turns the body of a verified webhook into events. It gives none,
// and no error, for what nobody is told of; ErrUnknownKey for a key it does
// not know; ErrNotUnderstood for JSON that is not what the key promises.
type Decoder func(key string, body []byte, baseURL string) ([]Event, error)

// TakesUnsigned tells whether a webhook counts as the platform's own without a
// signature.
func (c *Connection) TakesUnsigned() bool { return len(c.Secrets) == 0 && c.Unsigned }

// Connections are the platforms that are configured.
type Connections []Connection

// Find gives the connection of that name, nil when there is none.
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

// Resolve gives the name that a caller means: the one given, or the only one.
func (cs Connections) Resolve(name string) (string, error) {
	switch {
	case name == "" && len(cs) == 1:
		return cs[0].Name, nil
	case len(cs) == 0:
		return "", oneField("connection", "No connection is configured; add one to notify.connections.")
	case name == "":
		return "", oneField("connection", "Say which platform: "+strings.Join(cs.Names(), ", ")+".")
	case cs.Find(name) == nil:
		return "", oneField("connection", "There is no connection "+name+"; there is "+strings.Join(cs.Names(), ", ")+".")
	}
	return name, nil
}

func oneField(name, message string) error {
	var f fault.Fields
	f.Add(name, "%s", message)
	return f.Err()
}
