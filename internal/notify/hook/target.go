package hook

import (
	"net/http"

	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// target is the hook that a webhook is for, as this node knows it.
type target struct {
	hook       *notify.Hook // nil: there is none
	connection *notify.Connection
	secrets    []secret.Value
}

// unsigned reports whether a webhook counts as the platform's own without a
// signature: where there is no secret and the configuration says so.
func (t *target) unsigned() bool {
	return len(t.secrets) == 0 && t.connection.Unsigned && t.hook.Name == ""
}

// find returns the hook of a request's path. One that is not known here may have
// been made on another node a moment ago.
func (rc *Receiver) find(r *http.Request) target {
	t := rc.known(r)
	if t.hook == nil {
		rc.renew(r)
		t = rc.known(r)
	}
	return t
}

func (rc *Receiver) known(r *http.Request) target {
	var t target
	t.hook, t.connection = rc.Store.Platforms().Hook(r.PathValue("connection"), r.PathValue("hook"))
	if t.hook != nil {
		t.secrets = t.hook.Secrets(rc.Clock())
	}
	return t
}

// renew looks for what other nodes changed. Where the database does not say in
// time, a sender with a wrong secret gets its answer all the same.
func (rc *Receiver) renew(r *http.Request) {
	if err := rc.Store.Renew(r.Context()); err != nil && r.Context().Err() == nil {
		rc.Log.Warn("a webhook is judged by what this node knows", "error", err)
	}
}

// verify reports whether the body counts as the platform's own. A secret that
// this node does not know may have been made on another one a moment ago.
func (rc *Receiver) verify(r *http.Request, t *target, s signature, b *body) bool {
	if t.unsigned() || s.of(b.bytes, t.secrets) {
		return true
	}
	if !s.well {
		return false
	}
	rc.renew(r)
	now := rc.known(r)
	if now.hook == nil || now.hook == t.hook {
		return false
	}
	*t = now
	return s.of(b.bytes, now.secrets)
}
