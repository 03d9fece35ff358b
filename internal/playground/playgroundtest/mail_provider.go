package playgroundtest

import (
	"slices"
	"sync"
	"time"

	"outrigger/internal/playground/smarthost"
)

// MailProvider answers as Microsoft 365 documents it, where its limits are reached, and
// counts what came. Its fields may be set between Lock and Unlock.
type MailProvider struct {
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

// React is for smarthost.Options.
func (p *MailProvider) React(r smarthost.Request) *smarthost.Reaction {
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
	return &smarthost.Reaction{Reply: reply}
}

// take counts a message to so many, or says why it is not taken.
func (p *MailProvider) take(recipients int) (refusal string) {
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
func (p *MailProvider) Counts() (taken int, refused []string) {
	p.Lock()
	defer p.Unlock()
	return len(p.taken), slices.Clone(p.refused)
}

// Forget forgets what came, and the answers about limits.
func (p *MailProvider) Forget() {
	p.Lock()
	defer p.Unlock()
	p.taken, p.to, p.refused = nil, 0, nil
}

// Most is how many connections there were at a time.
func (p *MailProvider) Most() int {
	p.Lock()
	defer p.Unlock()
	return p.most
}
