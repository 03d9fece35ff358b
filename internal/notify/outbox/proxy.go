package outbox

import (
	"cmp"
	"log/slog"
	"sync"
	"time"

	"outrigger/internal/notify"
)

// longestProxyPause is short, since asking our own proxy costs one request,
// and an administrator who has mended it, or entered another, waits for the
// next.
const longestProxyPause = 30 * time.Second

// proxyPause pauses every channel that uses our own proxy while that lets
// nothing through: it is no channel's fault, and a thousand channels need not
// find out one by one.
type proxyPause struct {
	mu     sync.Mutex
	until  time.Time
	step   int  // pauses in a row; 0: the proxy works
	asking bool // a message is under way that will tell whether it is over
	said   notify.ProxyTrouble
}

// paused reports whether the proxy lets nothing through.
func (p *proxyPause) paused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.step > 0
}

// trouble is what is wrong, the zero value while nothing is.
func (p *proxyPause) trouble() notify.ProxyTrouble {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said
}

// askAgain lets the next message ask whether the pause is over.
func (p *proxyPause) askAgain(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.step > 0 && !p.asking {
		p.until = now
	}
}

// wait is how long nothing is sent yet.
func (p *proxyPause) wait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until.Sub(now)
}

// enter reports whether a message may be sent now. After a pause it is one, and
// the others wait for its result.
func (p *proxyPause) enter(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.step == 0 {
		return true
	}
	if now.Before(p.until) {
		return false
	}
	p.asking, p.until = true, now.Add(sendTimeout)
	return true
}

// result takes what an outcome says of the proxy, which is logged when a pause
// begins and when it is over.
func (p *proxyPause) result(o outcome, now time.Time, random func() float64, log *slog.Logger) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case o.verdict != paused:
		// Whatever came of the message, the proxy let it through.
		if p.step > 0 {
			p.step, p.asking, p.until, p.said = 0, false, time.Time{}, notify.ProxyTrouble{}
			log.Info("the proxy lets requests through again")
		}
	case p.step > 0 && !p.asking: // under way when the pause began
	default:
		if p.step == 0 {
			log.Error("the proxy lets nothing through; all channels that go by it wait", "error", cmp.Or(o.inside, o.reason))
			p.said.Since = now
		}
		p.said.Reason = cmp.Or(o.inside, o.reason)
		p.until, p.asking = now.Add(min(gateSteps.Delay(p.step, random), longestProxyPause)), false
		p.step++
	}
}

// ProxyTrouble says since when the proxy lets nothing of this node through, and
// why; the zero value while it does.
func (b *Outbox) ProxyTrouble() notify.ProxyTrouble { return b.proxy.trouble() }
