package notify

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
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

// Failing reports whether the last call failed.
func (h *WebhookHealth) Failing() bool { return h.LastFailure.After(h.LastSuccess) }

// WebhookState says whether a project's events come here.
type WebhookState string

const (
	WebhookUnchecked WebhookState = "unchecked" // it was not looked yet
	WebhookSends     WebhookState = "sends"     // a webhook of the project calls a hook here
	WebhookInactive  WebhookState = "inactive"  // it is switched off on the platform
	WebhookMissing   WebhookState = "missing"   // there is none
	WebhookUnknown   WebhookState = "unknown"   // the platform does not tell; see Reason
	// WebhookUnneeded: Outrigger created it, no rule needs it any more, and it is
	// yet to be deleted on the platform; Reason is why it could not be.
	WebhookUnneeded WebhookState = "unneeded"
)

// ProjectWebhook is a project of a platform, and the webhook by which its
// events come here.
type ProjectWebhook struct {
	Connection string
	Project    Project // key and name
	State      WebhookState
	Hook       string // ours, that it calls; "" is the connection's own
	ID         int64  // on the platform; 0: none
	Health     WebhookHealth
	Reason     string    // why it is not known, or was not created, in the platform's words
	SetAt      time.Time // when Outrigger last wrote it; zero: people keep it
	SecretMark string    // of the secret that it wrote; another is written when the hook's changes
	CheckedAt  time.Time // zero: not yet, or it is to be looked at next
}

// Failing reports whether the platform's last call failed.
func (w *ProjectWebhook) Failing() bool { return w.State == WebhookSends && w.Health.Failing() }

// RepositoryWebhook is the webhook by which the events of a repository of a cloud
// platform come here. Such a platform counts no calls: there is no health but its
// state.
type RepositoryWebhook struct {
	Connection      string
	At              RepositoryRef
	AuthorizationID int64 // of an active account of a rule there; 0: none
	State           WebhookState
	Hook            string    // ours, that it calls
	RemoteID        string    // on the platform; "": none
	Reason          string    // why it is not known, or was not created, in the platform's words
	SetAt           time.Time // when Outrigger last wrote it; zero: people keep it
	SecretMark      string    // of the secret that it wrote; another is written when the hook's changes
	CheckedAt       time.Time // zero: not yet
	Rules, Reports  int       // that are there
}

// GoesWithLastRule reports whether Outrigger deletes the webhook on the platform
// when the only rule of the repository is deleted: it created it, and no report
// needs it to follow renames.
func (w *RepositoryWebhook) GoesWithLastRule() bool {
	return w.Rules == 1 && w.Reports == 0 && w.Created()
}

// Created reports whether Outrigger created the webhook, as far as it is known.
func (w *RepositoryWebhook) Created() bool { return !w.SetAt.IsZero() && w.RemoteID != "" }

// ListedProject is a project as its platform lists it. Its id stays when its key
// changes.
type ListedProject struct {
	ID        int64
	Key, Name string
}

// Found is one of what a platform has: Value as it is written in rules, Label as
// people call it, "" where they do not call it otherwise.
type Found struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
}

// Coverage says how many of a platform's projects send their events here.
type Coverage struct {
	Connection   string    `json:"connection" doc:"The platform's name here."`
	Projects     int       `json:"projects" doc:"That the account sees; personal ones are not among them."`
	Sending      int       `json:"sending" doc:"Of these, how many have a webhook that calls a hook here."`
	Failing      int       `json:"failing" doc:"Of those, how many whose last call failed, as the platform counts."`
	CheckedAt    time.Time `json:"checkedAt,omitzero" doc:"When the projects were listed last."`
	Reason       string    `json:"reason,omitempty" doc:"Why that has failed since, in the platform's words."`
	Unchecked    int       `json:"-"` // projects that were not looked at yet
	FailingSince time.Time `json:"-"` // the last success of those that fail, or, where there was none, the failure
}

// ProjectCheck is when a connection's projects were listed last, and why that
// failed since.
type ProjectCheck struct {
	At     time.Time // of the last try; zero: it is to be done next
	Listed time.Time
	Reason string
}

// HookCalled returns the name of the hook of a connection that a webhook's URL
// leads to; base is where this program is reached.
func HookCalled(base, connection, url string) (hook string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimRight(url, "/"), strings.TrimRight(base, "/")+HookPath(connection, ""))
	if !ok {
		return "", false
	}
	hook, named := strings.CutPrefix(rest, "/")
	return hook, rest == "" || named && hook != "" && !strings.Contains(hook, "/")
}

// FreeHookName returns a name for a hook that is made for a scope, which no hook of
// the connection has yet.
func (p *Platforms) FreeHookName(connection string, scope Scope) string {
	key := scope.ProjectKey
	if scope.RepositoryKey != "" {
		key += "/" + scope.RepositoryKey
	}
	taken := func(name string) bool {
		other, _ := p.Hook(connection, name)
		return other != nil
	}
	name := managedHookName(key)
	if !taken(name) {
		return name
	}
	// Keys that differ in punctuation only are the same name; the fingerprint tells
	// them apart.
	marked := fmt.Sprintf("%s-%x", name, secret.Fingerprint(Fold(key))[:4])
	name = marked
	for n := 2; taken(name); n++ {
		name = marked + "-" + strconv.Itoa(n)
	}
	return name
}

// maxManagedName leaves room for a fingerprint and a number in the 63 characters of
// a name.
const maxManagedName = 48

// managedHookName writes the key of a project or repository as the name of a hook.
func managedHookName(key string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, Fold(key)), "-")
	if len(name) > maxManagedName {
		name = strings.TrimRight(name[:maxManagedName], "-")
	}
	return cmp.Or(name, "project")
}
