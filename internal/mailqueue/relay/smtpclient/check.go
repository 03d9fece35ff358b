package smtpclient

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

// checkTime limits a check, for which a user waits.
const checkTime = 45 * time.Second

// checking collects the steps of a check.
type checking []mailqueue.CheckStep

func (c *checking) note(step, answer string) {
	if answer == "" {
		*c = append(*c, mailqueue.CheckStep{Name: step})
		return
	}
	(*c)[len(*c)-1].Answer = answer
}

// failed ends the last step.
func (c *checking) failed(why string) {
	if len(*c) > 0 {
		(*c)[len(*c)-1].Error = why
	}
}

// Check tries the smarthost step by step. Where to is an address, a test message
// goes there; from "" is the user, if that is an address.
func (h *Smarthost) Check(ctx context.Context, from, to string) ([]mailqueue.CheckStep, error) {
	if err := mailqueue.JudgeCheck(from, to); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var steps checking
	tried := *h
	tried.Trace = steps.note
	host, _, _ := net.SplitHostPort(h.Address)
	steps.note("resolve", "")
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		steps.failed(fmt.Sprintf("The name %s cannot be resolved.", host))
		return steps, nil
	}
	steps.note("resolve", strings.Join(addresses, ", "))
	s, err := tried.Connect(ctx)
	if err != nil {
		steps.failed(fault.As(err).Message)
		return steps, nil
	}
	defer s.Quit()
	if to == "" {
		return steps, nil
	}
	if from == "" && strings.Contains(h.User, "@") {
		from = h.User
	}
	from = cmp.Or(from, "outrigger@"+h.Hostname)
	text := fmt.Sprintf("From: <%s>\r\nTo: <%s>\r\nSubject: Test message from Outrigger\r\nDate: %s\r\nMessage-ID: <check-%d@%s>\r\n"+
		"Auto-Submitted: auto-generated\r\n\r\nThe smarthost takes mail from Outrigger on %s.\r\n",
		from, to, time.Now().Format(time.RFC1123Z), time.Now().UnixNano(), h.Hostname, h.Hostname)
	res := s.Send(&Message{Sender: from, Recipients: []string{to}, Content: strings.NewReader(text), Size: int64(len(text))})
	steps.sent(&res, from, to)
	return steps, nil
}

// sent adds the answers to the test message, up to the first that refuses it.
func (c *checking) sent(r *Result, from, to string) {
	answers := []struct {
		step  string
		reply Reply
	}{{"MAIL FROM:" + Path(from), r.Mail}, {"RCPT TO:" + Path(to), Reply{}}, {"message", r.End}}
	if len(r.Recipients) > 0 {
		answers[1].reply = r.Recipients[0]
	}
	if r.Data.Code >= 400 {
		answers[2].reply = r.Data
	}
	for _, a := range answers {
		c.note(a.step, "")
		switch {
		case a.reply.Code == 0:
			c.failed("The smarthost did not answer: " + r.Reason() + ".")
			return
		case a.reply.Code/100 != 2:
			c.failed("The smarthost answered " + a.reply.String() + ".")
			return
		}
		c.note(a.step, a.reply.String())
	}
}
