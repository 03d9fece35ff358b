package acceptance

import (
	"context"
	"fmt"
	"net/smtp"
)

// session sends messages of one client from number n until the connection
// breaks, and returns the number to go on with.
func (l *mailLoad) session(ctx context.Context, client, n int) int {
	c, err := smtp.Dial(l.addr)
	if err != nil {
		return n
	}
	defer c.Close()
	for ctx.Err() == nil {
		n++
		id := l.id(client, n)
		ok := l.send(c, id)
		l.mu.Lock()
		l.sent++
		if ok {
			l.acknowledged[id] = true
		}
		l.mu.Unlock()
		if !ok {
			return n
		}
	}
	_ = c.Quit()
	return n
}

// send sends one message and reports whether it got its 250.
func (l *mailLoad) send(c *smtp.Client, id string) bool {
	if c.Mail("jira@example.com") != nil || c.Rcpt("ada@example.org") != nil {
		return false
	}
	w, err := c.Data()
	if err != nil {
		return false
	}
	if _, err := fmt.Fprintf(w, "From: jira@example.com\r\nTo: ada@example.org\r\nMessage-ID: %s\r\n\r\nhello\r\nthe end\r\n", id); err != nil {
		return false
	}
	return w.Close() == nil
}
