package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"outrigger/internal/rest"
)

// listen opens the port and serves front on it. Nothing but the port and the
// certificate can fail here, so that early connections are accepted.
func (a *App) listen(ctx context.Context) error {
	var conf *tls.Config
	if a.cfg.TLS.Cert != "" {
		cert, err := newCertificate(a.cfg.TLS, a.log)
		if err != nil {
			return err
		}
		a.certificates = append(a.certificates, cert)
		conf = cert.config()
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.Listen)
	if err != nil {
		return fmt.Errorf("open the listener: %w", err)
	}
	server := rest.Server(a.startupGate, a.log)
	server.TLSConfig = conf
	a.addr = l.Addr()
	go a.accept(server, rest.Listener(l, rest.MaxConnections(), a.log))
	a.steps.add("listener", listenerLimit, func(ctx context.Context) error { return closeServer(ctx, server) })
	return nil
}

// accept runs until the server is closed; ending earlier is a failure of the
// process.
func (a *App) accept(server *http.Server, l net.Listener) {
	serve := server.Serve
	if server.TLSConfig != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
		a.fail(fmt.Errorf("the listener ended: %w", err))
	}
}

// closeServer closes the port, and the connections once they are idle or ctx
// ends. Requests were drained before.
func closeServer(ctx context.Context, server *http.Server) error {
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}
