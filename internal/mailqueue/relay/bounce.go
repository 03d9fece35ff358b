package relay

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/quotedprintable"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
)

const (
	// maxBounced is how much of a message's header goes back to its sender.
	maxBounced = 64 << 10

	// maxDiagnostic keeps the line with an answer below what servers take.
	maxDiagnostic = 900

	// expiredStatus is "delivery time expired": RFC 3463, 3.5.
	expiredStatus = "5.4.7"

	boundary = "outrigger-delivery-status"
)

// bouncer writes delivery status notifications (RFC 3464) to the senders of
// messages that were given up.
type bouncer struct {
	queue    *Queue
	hostname string
}

// failed lists the recipients that outcomes give up, as they stand then.
func (r *result) failed() (list recipients) {
	for i := range r.outcomes {
		if o := &r.outcomes[i]; o.state == mailqueue.Failed {
			list = append(list, recipient{Address: r.recipients[r.turn[i]].Address, Answer: o.text()})
		}
	}
	return list
}

// notification is what the sender of a message gets to read, with its header
// and nothing of its body; nil for the null sender, who must get none.
func (b *bouncer) notification(ctx context.Context, j *job, failed recipients) (*arrival, error) {
	if j.sender == "" || len(failed) == 0 {
		return nil, nil
	}
	header, err := b.queue.header(ctx, j)
	if err != nil {
		return nil, fmt.Errorf("reading the header of message %d: %w", j.id, err)
	}
	s := b.queue.codec.spool(b.queue.o.Dir)
	defer s.close()
	look := new(inspector)
	if _, err := io.MultiWriter(s, look).Write(b.text(j, failed, header)); err != nil {
		return nil, err
	}
	look.close()
	body, pieces, err := s.finish()
	if err != nil {
		return nil, err
	}
	return &arrival{
		job: job{
			trace: "Received: by " + token(b.hostname) + " (Outrigger)", size: s.size, eightBit: look.eightBit, utf8: look.utf8,
			recipients: recipients{{Address: j.sender}}, turn: []int{0}, body: body,
		},
		subject: look.subject, messageID: look.messageID, pieces: pieces,
	}, nil
}

// text is the whole notification.
func (b *bouncer) text(j *job, failed recipients, header []byte) []byte {
	var out bytes.Buffer
	now := time.Now()
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\r\n", args...) }
	host := token(b.hostname)
	line("From: Mail Delivery System <MAILER-DAEMON@%s>", host)
	line("To: %s", strings.Trim(smtpclient.Path(j.sender), "<>"))
	line("Subject: Your message could not be delivered")
	line("Date: %s", now.Format(time.RFC1123Z))
	line("Message-ID: <%d.%d.bounce@%s>", j.id, now.UnixNano(), host)
	line("Auto-Submitted: auto-replied")
	line("MIME-Version: 1.0")
	line("Content-Type: multipart/report; report-type=delivery-status; boundary=%q", boundary)
	line("")
	line("--%s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n", boundary)
	quote(&out, explain(failed))
	line("\r\n--%s\r\nContent-Type: message/delivery-status\r\n", boundary)
	line("Reporting-MTA: dns; %s", host)
	line("Arrival-Date: %s", j.queuedAt.UTC().Format(time.RFC1123Z))
	for i := range failed {
		line("")
		line("Final-Recipient: %s", typed(failed[i].Address))
		line("Action: failed")
		line("Status: %s", status(failed[i].Answer))
		if code(failed[i].Answer) > 0 {
			line("Diagnostic-Code: smtp; %s", ascii(failed[i].Answer))
		}
	}
	line("\r\n--%s\r\nContent-Type: text/rfc822-headers\r\nContent-Transfer-Encoding: quoted-printable\r\n", boundary)
	quote(&out, string(header))
	line("\r\n--%s--", boundary)
	return out.Bytes()
}

// explain tells the sender what happened.
func explain(failed recipients) string {
	var text strings.Builder
	text.WriteString("Your message could not be delivered to:\r\n")
	for i := range failed {
		fmt.Fprintf(&text, "\r\n%s\r\n    %s\r\n", failed[i].Address, failed[i].Answer)
	}
	text.WriteString("\r\nThe header of the message is attached.\r\n")
	return text.String()
}

func quote(out *bytes.Buffer, text string) {
	w := quotedprintable.NewWriter(out)
	io.WriteString(w, text) // a buffer takes everything
	w.Close()
}

// typed is an address with its type: RFC 3464, 2.3.2; RFC 6533, 3, for those
// that are not ASCII.
func typed(address string) string {
	if !hasEightBit([]byte(address)) {
		return "rfc822; " + address
	}
	var text strings.Builder
	for _, r := range address {
		if r < 0x80 {
			text.WriteRune(r)
		} else {
			fmt.Fprintf(&text, `\x{%X}`, r)
		}
	}
	return "utf-8; " + text.String()
}

// ascii is an answer in the characters that a delivery status may have, on one
// line.
func ascii(s string) string {
	s = s[:min(len(s), maxDiagnostic)]
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// code is that of an answer of the smarthost's, 0 for a sentence of our own.
func code(answer string) int {
	if len(answer) < 4 || answer[3] != ' ' {
		return 0
	}
	n, _ := strconv.Atoi(answer[:3])
	return n
}

// status is the enhanced code of a failure: RFC 3464, 2.3.4. What was only
// deferred failed because its time was over.
func status(answer string) string {
	n := code(answer)
	if n == 0 || isTemporary(n) {
		return expiredStatus
	}
	reply := smtpclient.Reply{Code: n, Lines: []string{answer[4:]}}
	if enhanced := reply.Enhanced(); enhanced != "" {
		return enhanced
	}
	return "5.0.0"
}

// header reads a message's header, as much of it as goes back to its sender.
func (q *Queue) header(ctx context.Context, j *job) ([]byte, error) {
	r, err := q.open(ctx, j, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var header []byte
	for in := bufio.NewReader(io.LimitReader(r, maxBounced)); ; {
		line, err := in.ReadBytes('\n')
		if err != nil || string(line) == "\r\n" { // a line that is cut off is left away
			return header, ignoreEOF(err)
		}
		header = append(header, line...)
	}
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
