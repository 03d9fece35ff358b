package notify

import (
	"time"
)

// RefusalReason is why webhooks of a known connection are refused.
type RefusalReason string

const (
	RefusedSignature RefusalReason = "signature"    // missing, malformed or wrong: 401
	RefusedNoSecret  RefusalReason = "no_secret"    // the hook has none to check by: 401
	RefusedScope     RefusalReason = "scope"        // about something else than the hook is for: 403
	RefusedBody      RefusalReason = "body"         // too long, cut off, or not JSON: 400, 408, 413
	RefusedHook      RefusalReason = "unknown_hook" // the connection has no such hook: 404
)

// Advice says what helps.
func (r RefusalReason) Advice() string {
	switch r {
	case RefusedSignature:
		return "Enter the secret of the hook in the webhook on the platform. If it is lost, rotate it to get a new one."
	case RefusedNoSecret:
		return "Rotate the hook to get a new secret, or, if the configuration file declares it, set webhook_secret there. Enter the same " +
			"secret in the webhook on the platform."
	case RefusedScope:
		return "Add a hook for that project or repository, and enter its URL and secret in the webhook on the platform."
	case RefusedBody:
		return "Check what sends them: a webhook of the platform is JSON of at most 10 MiB."
	case RefusedHook:
		return "Correct or delete the webhook on the platform: its URL names a hook that does not exist here."
	}
	return ""
}

// RefusalKey is what refused webhooks are counted by. There are no more keys than
// hooks times reasons, however many webhooks strangers send.
type RefusalKey struct {
	Connection string        `json:"connection" doc:"The connection that the address names."`
	Hook       string        `json:"hook,omitempty" doc:"Its name; absent: the connection's own, or with unknown_hook no hook."`
	Reason     RefusalReason `json:"reason" enum:"signature,no_secret,scope,body,unknown_hook"`
}

// RefusedWebhooks counts the webhooks that were refused for one reason.
type RefusedWebhooks struct {
	RefusalKey
	Count   int       `json:"count" doc:"Of the last 24 hours."`
	Recent  int       `json:"recent" doc:"Of the present hour and the one before it."`
	FirstAt time.Time `json:"-"` // of those counted
	LastAt  time.Time `json:"lastAt" doc:"When the last one came."`
	LastBy  string    `json:"lastAddress" doc:"Where the last one came from."`
	Message string    `json:"lastMessage" doc:"What the last one was answered."`
	// Alone tells that no event came in by the hook in the last 24 h, as far as
	// the newest 10,000 events tell.
	Alone bool `json:"-"`
}

// RefusalsKept is how long refused webhooks are told of.
const RefusalsKept = 24 * time.Hour

// manyRefused is how many refused webhooks in two hours need attention though
// others come in: more than a person who tries a secret out makes by hand.
const manyRefused = 10

// NeedsAttention reports whether an administrator should look at it now.
func (r *RefusedWebhooks) NeedsAttention() bool { return r.Alone || r.Recent >= manyRefused }
