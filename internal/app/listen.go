package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"outrigger/internal/config"
	"outrigger/internal/rest"
	"outrigger/internal/restart"
)

// listen opens the port, or takes the socket that was passed. Connections wait
// until accept.
func (a *App) listen(ctx context.Context) error {
	a.front = rest.Server(a.startupGate, a.log)
	if a.cfg.TLS.Cert != "" {
		cert, err := newCertificate("tls", a.cfg.TLS, a.log)
		if err != nil {
			return err
		}
		a.certificates = append(a.certificates, cert)
		a.front.TLSConfig = cert.config()
	}
	given := a.o.Sockets.Has(restart.HTTP)
	network, address := config.SplitListen(a.cfg.Listen)
	l, err := a.o.Sockets.Listen(ctx, restart.HTTP, network, address)
	if err != nil {
		return fmt.Errorf("open the listener: %w", err)
	}
	a.addr = l.Addr()
	if given && !config.ListensAt(a.cfg.Listen, a.addr) {
		a.sayOtherAddress("listen", a.cfg.Listen, a.addr)
	}
	a.listener = rest.Listen(l, rest.MaxConnections(), a.log)
	a.steps.add("listener", listenerLimit, func(ctx context.Context) error {
		defer l.Close() // for where it was not served
		return closeServer(ctx, a.front)
	})
	return nil
}

// sayOtherAddress warns that a socket which was passed listens at another address than the
// settings say: the checks of the settings were about another address.
func (a *App) sayOtherAddress(key, configured string, addr net.Addr) {
	a.log.Warn("the socket that was passed to this process listens at another address than the setting says, "+
		"and the socket's counts; set both to the same", "setting", key, "value", configured, "socket", addr.String())
}

// takeOver waits until the predecessor, if there is one, has closed the database.
// Everything that can fail without a database has been tried by then.
func (a *App) takeOver(ctx context.Context) error {
	if a.o.Wait == nil {
		go a.accept()
		return nil
	}
	// What connects waits in the kernel until everything is open: if this start
	// fails, the process before goes on with that.
	return a.o.Wait(ctx)
}

// finishRequests answers the requests that clients have begun. Where another process
// accepts on the socket afterwards, none is refused: later ones are for that process.
func (a *App) finishRequests(ctx context.Context) error {
	var unfinished error
	if a.o.Sockets.Kept() {
		unfinished = a.listener.Finish(ctx)
	}
	return errors.Join(a.startupGate.drain(ctx), unfinished)
}

// accept serves until the server is closed. If it ends earlier, the process has failed,
// unless the port was left to another one.
func (a *App) accept() {
	serve := a.front.Serve
	if a.front.TLSConfig != nil {
		serve = func(l net.Listener) error { return a.front.ServeTLS(l, "", "") }
	}
	if err := serve(a.listener); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		a.fail(fmt.Errorf("the listener ended: %w", err))
	}
}

// closeServer closes the port, and the connections once they are idle or ctx
// ends. Requests were drained before: what is left then is in no one's way, such as
// half a second in which net/http leaves a client time to read its refusal.
func closeServer(ctx context.Context, server *http.Server) error {
	err := server.Shutdown(ctx)
	if ctx.Err() != nil {
		return server.Close()
	}
	return err
}
