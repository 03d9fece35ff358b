package rest

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/trace"
)

// LogHandler returns a handler that adds the id of the request, and that of its trace
// where it has one, to every record that is logged with the request's context. A next
// that does so already is returned as it is.
func LogHandler(next slog.Handler) slog.Handler {
	if h, ok := next.(requestLog); ok {
		return h
	}
	return requestLog{next}
}

type requestLog struct{ slog.Handler }

func (h requestLog) Handle(ctx context.Context, rec slog.Record) error {
	if id := identity.OriginOf(ctx).RequestID; id != "" {
		rec = rec.Clone()
		rec.AddAttrs(slog.String("request_id", id))
	}
	if id := trace.Of(ctx).ID; id != "" {
		rec = rec.Clone()
		rec.AddAttrs(slog.String("trace_id", id))
	}
	return h.Handler.Handle(ctx, rec)
}

func (h requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{h.Handler.WithAttrs(attrs)}
}

func (h requestLog) WithGroup(name string) slog.Handler {
	return requestLog{h.Handler.WithGroup(name)}
}

// statusGone is what the log and metrics say of a request that was broken off:
// it is no failure of ours. No client sees it.
const statusGone = 499

// account counts and logs a request that is over. Reads and webhooks come by the
// thousand and are for debugging, and so is what was broken off; who wrote what is
// for everyone.
func (rt *Router) account(r *http.Request, x *exchange) {
	switch {
	case x.gone:
		x.status = statusGone
	case x.status == 0:
		x.status = http.StatusOK // a handler that writes nothing answers so
	}
	took := time.Since(x.started)
	rt.metrics.observe(x, r.Method, took)
	level := slog.LevelInfo
	if r.Method == http.MethodGet || r.Method == http.MethodHead || x.route != nil && x.route.Raw || x.gone {
		level = slog.LevelDebug
	}
	if !rt.log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", x.status),
		slog.Int64("bytes", x.bytes), slog.Duration("took", took), slog.String("address", ClientAddr(r.Context())),
	}
	if x.caller.Principal != nil {
		attrs = append(attrs, slog.String("user", x.caller.Principal.Name))
	}
	rt.log.LogAttrs(r.Context(), level, "request", attrs...)
}

// logInternal is the one place where the cause of an internal error is said.
func (rt *Router) logInternal(r *http.Request, err error, referral string) {
	rt.log.LogAttrs(r.Context(), slog.LevelError, "internal error", slog.String("error", err.Error()),
		slog.String("referral", referral), slog.String("method", r.Method), slog.String("path", r.URL.Path))
}

// cutOff breaks the connection of an answer that was begun and cannot be
// finished, so that the client does not take it for whole.
func (rt *Router) cutOff(r *http.Request, err error) {
	if r.Context().Err() == nil { // else the client itself went away
		rt.logInternal(r, err, randomHex())
	}
	panic(http.ErrAbortHandler)
}
