package app

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"outrigger/internal/config"
	"outrigger/internal/mailqueue/relay/smtpclient"
	"outrigger/internal/playground/smarthost"
)

// demoMail is the smarthost that the demo plays.
type demoMail struct {
	host   *smarthost.Host
	page   *smarthost.Page
	served chan struct{} // closed when it accepts no more connections
}

// newDemoMail has the relay send to a smarthost on this machine, which takes
// clients from now on.
func newDemoMail(ctx context.Context, a *App) (*demoMail, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the smarthost's listener: %w", err)
	}
	m := &demoMail{host: smarthost.New(smarthost.Options{Clock: a.clock}), served: make(chan struct{})}
	m.page = &smarthost.Page{Host: m.host}
	a.cfg.Mail.Smarthost, a.cfg.Mail.SmarthostTLS = l.Addr().String(), smtpclient.NoTLS
	go func() {
		defer close(m.served)
		defer l.Close()
		if err := m.host.Serve(l); err != nil {
			a.fail(fmt.Errorf("the smarthost's listener ended: %w", err))
		}
	}()
	return m, nil
}

// begin has the page know the product, once that listens.
func (m *demoMail) begin(a *App) http.Handler {
	m.page.Console = a.URL()
	if a.cfg.Mail.Listen != config.MailOff {
		m.page.Relay = a.MailAddr()
	}
	return m.page.Handler()
}

func (m *demoMail) close() {
	m.host.Close()
	<-m.served
}
