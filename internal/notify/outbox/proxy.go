package outbox

import (
	"log/slog"
	"sync"
	"time"
)

// proxyPause rests everything while our own proxy lets nothing through: it is
// no channel's fault, and a thousand channels need not say so.
type proxyPause struct {
	mu    sync.Mutex
	until time.Time
	step  int
}

// wait is how long nothing is sent yet.
func (p *proxyPause) wait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until.Sub(now)
}

// result takes what an outcome says of the proxy, which is logged when it
// begins and when it is over. What was under way with others when the pause
// began counts up no step.
func (p *proxyPause) result(o outcome, now time.Time, random func() float64, log *slog.Logger) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case o.verdict != paused:
		// An answer shows that requests get through; an error of the network
		// may come from before the proxy.
		if o.status != 0 && p.step > 0 {
			p.step, p.until = 0, time.Time{}
			log.Info("the proxy lets requests through again")
		}
	case now.Before(p.until):
	default:
		if p.step == 0 {
			log.Error("the proxy lets nothing through; all channels wait", "cause", o.reason)
		}
		p.until = now.Add(gateSteps.Delay(p.step, random))
		p.step++
	}
}
