// Package settings is what administrators set while the server runs. It is in
// the database, and every node goes by it within a second.
package settings

import (
	"net/url"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// Settings are the values that hold. The zero value is that of a new
// installation.
type Settings struct {
	Proxy     *url.URL // for outgoing HTTP; nil: the environment's, if any
	Version   int64    // counts saves
	UpdatedBy string   // the user's name; "" before the first save
	UpdatedAt time.Time

	// Unreadable is set where the stored proxy cannot be decrypted; Proxy is nil
	// then.
	Unreadable bool
}

// ProxyURL is the proxy's URL with its password masked; "" for none.
func (s *Settings) ProxyURL() string {
	if s.Proxy == nil {
		return ""
	}
	return secret.MaskPassword(s.Proxy)
}

// readProxy reads a proxy's URL as entered, "" for none. A password
// that is masked is the stored one's, as long as scheme, host, port and user
// are: a password must not go to another proxy than it was entered for.
func (s *Settings) readProxy(entered string) (*url.URL, error) {
	if entered == "" {
		return nil, nil
	}
	proxy, err := egress.ParseProxy(secret.UnmaskPassword(entered))
	if err == nil {
		err = egress.CheckProxy(proxy)
	}
	if err != nil {
		return nil, refusal(fault.As(err).Message)
	}
	if !secret.HasMaskedPassword(proxy) {
		return proxy, nil
	}
	if s.Proxy == nil || secret.MaskPassword(s.Proxy) != secret.MaskPassword(proxy) {
		return nil, refusal("Enter the password again. It is kept only if scheme, host, port and user are unchanged.")
	}
	return s.Proxy, nil
}

func refusal(message string) error {
	var wrong fault.Fields
	wrong.Add("proxyUrl", "%s", message)
	return wrong.Err()
}
