// Command load gives an installed server webhooks and mail until it is asked to end
// (SIGTERM), and says then what was refused, lost or sent twice:
// load HTTP SMTP SMARTHOST PASSWORD-FILE. The smarthost answers only after that, so
// that mail waits meanwhile. What tells the channels apart, and the secret of the
// connection bench, is that of internal/loadtest.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/smtp"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
)

const (
	channels = 20
	rate     = 100 // webhooks a second
	pause    = 200 * time.Millisecond
	patience = time.Minute // for what was acknowledged to arrive
	perMail  = 30 * time.Second
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return errors.New("usage: load HTTP SMTP SMARTHOST PASSWORD-FILE")
	}
	password, err := os.ReadFile(args[3])
	if err != nil {
		return err
	}
	sink, err := loadtest.NewSink(channels)
	if err != nil {
		return err
	}
	defer sink.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	admin := strings.TrimSpace(string(password))
	for c := range channels {
		rule := loadtest.ChannelRule(c, sink.URL())
		if err := loadtest.Ask(ctx, args[0], admin, http.MethodPost, loadtest.RulesPath, rule, nil); err != nil {
			return err
		}
	}
	load := loadtest.NewLoad(channels, channels, args[0])
	load.Fresh = channels / 2
	fmt.Println("running")
	var mail mails
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if args[1] != "off" {
			mail.send(ctx, args[1])
		}
	}()
	load.Run(ctx, rate)
	<-ended
	return verdict(load, sink, &mail, args[2])
}

func verdict(load *loadtest.Load, sink *loadtest.Sink, mail *mails, address string) error {
	within, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v := loadtest.Await(within, load, sink)
	fmt.Println("webhooks:", v)
	fmt.Println("answers:", load.Statuses(), "refused:", load.Refused())
	lost, twice, err := mail.arrived(within, address)
	fmt.Printf("mail: %d accepted, %d refused, %d lost, %d twice\n", len(mail.accepted), len(mail.refused), lost, twice)
	if err != nil {
		return err
	}
	if load.Refused() > 0 || v.Missing > 0 || v.Disordered > 0 || v.Repeated > 0 || lost > 0 || twice > 0 || len(mail.refused) > 0 {
		return fmt.Errorf("something was refused, lost or repeated %v", mail.refused)
	}
	return nil
}

// mails are messages, each with a number of its own as its subject.
type mails struct {
	accepted []string
	refused  []error
}

func (m *mails) send(ctx context.Context, address string) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := 1; ctx.Err() == nil; i++ {
		subject := fmt.Sprintf("message %d.", i)
		if err := sendMail(address, subject); err != nil {
			m.refused = append(m.refused, err)
		} else {
			m.accepted = append(m.accepted, subject)
		}
		<-tick.C
	}
}

// sendMail is smtp.SendMail with a limit: a connection may wait while the server
// restarts.
func sendMail(address, subject string) error {
	conn, err := net.DialTimeout("tcp", address, perMail)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(perMail)); err != nil {
		return err
	}
	c, err := smtp.NewClient(conn, "localhost")
	if err != nil {
		return err
	}
	err = errors.Join(c.Mail("jira@example.com"), c.Rcpt("ada@example.com"))
	if err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "From: jira@example.com\r\nTo: ada@example.com\r\nSubject: %s\r\n\r\nHello\r\n", subject)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	_ = c.Quit() // the message is accepted
	return nil
}

// arrived has the smarthost answer, and counts what does not come and what comes
// twice.
func (m *mails) arrived(ctx context.Context, address string) (lost, twice int, err error) {
	if len(m.accepted) == 0 {
		return 0, 0, nil
	}
	host := smarthost.New(smarthost.Options{Keep: 1 << 20})
	defer host.Close()
	l, err := net.Listen("tcp", address)
	if err != nil {
		return 0, 0, err
	}
	go host.Serve(l) // ends with Close
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		lost, twice = 0, 0
		for _, subject := range m.accepted {
			switch n := times(host, subject); {
			case n == 0:
				lost++
			case n > 1:
				twice++
			}
		}
		select {
		case <-ctx.Done():
			return lost, twice, nil
		case <-tick.C:
			if lost == 0 {
				return lost, twice, nil
			}
		}
	}
}

func times(host *smarthost.Host, subject string) (n int) {
	for _, message := range host.Messages() {
		if bytes.Contains(message.Data, []byte("Subject: "+subject+"\r\n")) {
			n++
		}
	}
	return n
}
