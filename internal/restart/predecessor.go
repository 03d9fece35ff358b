package restart

import (
	"bufio"
	"context"
	"fmt"
	"os"
)

// What the two processes say to each other, a line each.
const (
	sayHello   = "hello"   // the successor: it knows how to take over
	sayReady   = "ready"   // the successor: its settings and sockets are good
	sayGo      = "go"      // the predecessor: the database is free
	sayServing = "serving" // the successor: it serves
)

// Predecessor is the process that hands over to this one.
type Predecessor struct {
	ID   string // of the process
	from *os.File
	to   *os.File
}

func newPredecessor(id string, descriptor int) *Predecessor {
	p := &Predecessor{ID: id, from: inherited(descriptor, "from the predecessor"), to: inherited(descriptor+1, "to the predecessor")}
	p.say(sayHello)
	return p
}

// TakeOver says that this process is ready, and returns when the predecessor has
// let go of the database: when it says so, or has ended.
func (p *Predecessor) TakeOver(ctx context.Context) error {
	p.say(sayReady)
	free := make(chan struct{})
	go func() {
		defer close(free)
		bufio.NewScanner(p.from).Scan() // go, or nothing more
	}()
	select {
	case <-free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Serving says that this process serves: the predecessor ends.
func (p *Predecessor) Serving() {
	p.say(sayServing)
	p.from.Close()
	p.to.Close()
}

// say fails where the predecessor has ended: then it need not know.
func (p *Predecessor) say(line string) { _, _ = fmt.Fprintln(p.to, line) }
