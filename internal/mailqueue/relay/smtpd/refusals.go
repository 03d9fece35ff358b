package smtpd

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// refusalsEvery is how often refusals of one kind and address are logged.
	refusalsEvery = time.Minute

	// maxRefusalKinds bounds what is remembered of a minute, for clients with
	// addresses without end. What is beyond counts as one kind.
	maxRefusalKinds = 1000
)

// refusalLog writes what is refused into the log: the first of a kind from an
// address at once, and how many followed when a minute is over.
type refusalLog struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds map[refusalKind]int // how many followed the first
	timer *time.Timer         // nil: there are none
}

type refusalKind struct {
	address string
	reply   Reply
}

// others stands for the addresses beyond maxRefusalKinds.
var others = refusalKind{address: "others", reply: Reply{Text: "Several reasons."}}

func newRefusalLog(log *slog.Logger) *refusalLog {
	return &refusalLog{log: log, kinds: map[refusalKind]int{}}
}

func (l *refusalLog) add(address string, r *Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kind := refusalKind{network(address), *r}
	_, known := l.kinds[kind]
	if !known && len(l.kinds) >= maxRefusalKinds {
		kind = others
		_, known = l.kinds[kind]
	}
	if known {
		l.kinds[kind]++
		return
	}
	l.kinds[kind] = 0
	if l.timer == nil {
		l.timer = time.AfterFunc(refusalsEvery, l.flush)
	}
	l.log.Info("mail was refused", "address", address, "code", r.Code, "reason", r.Text)
}

// flush logs how many followed, and starts counting again.
func (l *refusalLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	for kind, more := range l.kinds {
		if more > 0 {
			l.log.Info("more were refused", "address", kind.address, "code", kind.reply.Code, "reason", kind.reply.Text, "times", more)
		}
	}
	clear(l.kinds)
}
