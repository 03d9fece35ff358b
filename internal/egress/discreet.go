package egress

import "errors"

// proxyFailure is a failure on the way through a proxy, which its words name.
type proxyFailure struct{ error }

func (e proxyFailure) Unwrap() error { return e.error }

// Discreet returns what every user may read of an error of Caller.Do that names
// addresses, ranges or the proxy; "" for any other.
func Discreet(err error) string {
	var (
		host  *hostError
		proxy proxyFailure
	)
	switch {
	case errors.Is(err, ErrProxy), errors.As(err, &host), errors.As(err, &proxy):
		return "the request did not get through the outgoing proxy"
	case errors.Is(err, ErrRefused):
		return "the host may not be reached from here"
	}
	return ""
}
