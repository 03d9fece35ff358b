package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
)

// ErrRefused is in every error about an address that may not be dialled. The
// message around it names the range.
var ErrRefused = errors.New("may not be dialled")

// guard dials for webhooks. It judges the address of every socket after the
// name was resolved and before it connects, so that a name server that changes
// its answer gains nothing.
type guard struct {
	policy    *policy
	dialer    net.Dialer
	plaintext bool // http: what is not allowed by name or network is refused
}

func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	d := g.dialer
	if g.policy.allowsName(host, uint16(n)) {
		return d.DialContext(ctx, network, address)
	}
	v := verdict{guard: g, host: host}
	d.ControlContext = v.control
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, v.explain(err)
	}
	return conn, nil
}

// verdict is what became of the addresses of one host. The dialler may try
// several at once.
type verdict struct {
	guard *guard
	host  string

	mu      sync.Mutex
	refused error // the first refusal
	passed  bool  // an address was let through
}

func (v *verdict) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	err := v.judge(address)
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		v.passed = true
	} else if v.refused == nil {
		v.refused = err
	}
	return err
}

func (v *verdict) judge(address string) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%s %w: its address cannot be read", v.host, ErrRefused)
	}
	return v.guard.policy.judge(v.host, target, v.guard.plaintext)
}

// explain says why no connection came about. The dialler reports the address
// that failed first; only when every one was refused is the host refused, else
// one that may be dialled did not answer.
func (v *verdict) explain(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.refused != nil && !v.passed:
		return v.refused
	case errors.Is(err, ErrRefused):
		return errNoAnswer
	}
	return err
}

var errNoAnswer = errors.New("none of its addresses that may be dialled answers")
