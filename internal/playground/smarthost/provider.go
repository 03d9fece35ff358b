package smarthost

import (
	"slices"
	"sync"
	"time"
)

// Provider answers as Microsoft 365 documents it, where its limits are reached, and
// counts what came. Its fields may be set between Lock and Unlock.
type Provider struct {
	sync.Mutex
	Connections int           // at a time; 0: any number
	Rate        int           // messages a minute; 0: any number
	Minute      time.Duration // how long that is; 0: a minute
	Quota       int           // recipients altogether; 0: any number
	Slow        time.Duration // each message takes

	open    map[int]bool
	most    int
	taken   []time.Time
	to      int
	refused []string
}

// React is for Options.
func (p *Provider) React(r Request) *Reaction {
	p.Lock()
	defer p.Unlock()
	if r.Verb == "." && p.Slow > 0 {
		p.Unlock()
		<-time.After(p.Slow)
		p.Lock()
	}
	reply := ""
	switch r.Verb {
	case "CONNECT":
		if p.open == nil {
			p.open = make(map[int]bool)
		}
		p.open[r.Session] = true
		p.most = max(p.most, len(p.open))
	case "QUIT", "CLOSE":
		delete(p.open, r.Session)
	case "MAIL":
		if p.Connections > 0 && len(p.open) > p.Connections {
			reply = "432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded"
		}
	case ".":
		reply = p.take(len(r.Message.To))
	}
	if reply == "" {
		return nil
	}
	p.refused = append(p.refused, reply)
	return &Reaction{Reply: reply}
}

// take counts a message to so many, or says why it is not taken.
func (p *Provider) take(recipients int) (refusal string) {
	now, minute, recent := time.Now(), p.Minute, 0
	if minute == 0 {
		minute = time.Minute
	}
	for _, at := range p.taken {
		if now.Sub(at) < minute {
			recent++
		}
	}
	switch {
	case p.Rate > 0 && recent >= p.Rate:
		return "432 4.3.2 STOREDRV.ClientSubmit; sender message rate exceeded"
	case p.Quota > 0 && p.to+recipients > p.Quota:
		return "554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException"
	}
	p.taken = append(p.taken, now)
	p.to += recipients
	return ""
}

// Counts are the messages that were taken, and the answers about limits.
func (p *Provider) Counts() (taken int, refused []string) {
	p.Lock()
	defer p.Unlock()
	return len(p.taken), slices.Clone(p.refused)
}

// Forget forgets what came, and the answers about limits.
func (p *Provider) Forget() {
	p.Lock()
	defer p.Unlock()
	p.taken, p.to, p.refused = nil, 0, nil
}

// Most is how many connections there were at a time.
func (p *Provider) Most() int {
	p.Lock()
	defer p.Unlock()
	return p.most
}
