package notify

import (
	"time"

	"outrigger/internal/secret"
)

// Webhook is a webhook of a project on its platform.
type Webhook struct {
	ID     int64
	URL    string
	Active bool
	Events []string     // keys
	Secret secret.Value // to be set; the platform never tells
}

// WebhookHealth is what came of a webhook's calls, as the platform counts them.
// Times are zero where there was none.
type WebhookHealth struct {
	Successes, Failures      int64
	LastSuccess, LastFailure time.Time
	Answer                   string // status or words of the last failure
}

// Failing tells whether the last call failed.
func (h *WebhookHealth) Failing() bool { return h.LastFailure.After(h.LastSuccess) }
