package notify

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// RuleStore keeps rules; *store.Store.
type RuleStore interface {
	Platforms() *Platforms
	ListRules(ctx context.Context, q RuleQuery) ([]RuleInfo, error)
	PageRules(ctx context.Context, p RulePage) ([]RuleInfo, error)
	CloudRepositories(ctx context.Context, p CloudRepositoryPage) ([]CloudRepository, error)
	// UnauthorizedRepositories returns those with rules whose account has to be
	// authorised again, but for the accounts of a user, at most limit that visible
	// lets through.
	UnauthorizedRepositories(ctx context.Context, but int64, limit int, visible func(*CloudRepository) bool) ([]CloudRepository, error)
	// Rule returns one rule: fault.NotFound when there is none with the id.
	Rule(ctx context.Context, id int64) (RuleInfo, error)
	// RuleVersionsSince returns the versions of a rule from one up to, and without,
	// its present one; fewer where they are not kept any more.
	RuleVersionsSince(ctx context.Context, now *Rule, version int64) ([]Rule, error)
	// SaveRule creates a rule (ID 0) or saves one. Errors: fault.Invalid for
	// wrong members, fault.NotFound for an unknown id, fault.Conflict for a
	// version that is not the present one.
	SaveRule(ctx context.Context, who Actor, draft Rule, webhookURL string) (RuleInfo, error)
	// EnableRule switches a rule on or off. One that it switches on belongs to the
	// authorization of that id then. Errors: fault.NotFound when there is none with
	// the id, fault.Conflict for a version that is neither 0 nor the present one,
	// fault.Forbidden where the account was revoked meanwhile.
	EnableRule(ctx context.Context, who Actor, id, version int64, enabled bool, authorization int64) (RuleInfo, error)
	// DeleteRule deletes a rule; the version and the errors are as for EnableRule.
	DeleteRule(ctx context.Context, who Actor, id, version int64) error
}

// ReportStore keeps activity reports; *store.Store.
type ReportStore interface {
	Platforms() *Platforms
	ListReports(ctx context.Context, q ReportQuery) ([]ReportInfo, error)
	PageReports(ctx context.Context, p ReportPage) ([]ReportInfo, error)
	// FailingReports returns the enabled reports whose last run brought no message,
	// the last ones first, at most limit that visible lets through.
	FailingReports(ctx context.Context, limit int, visible func(*Report) bool) ([]ReportInfo, error)
	// Report returns one report: fault.NotFound when there is none with the id.
	Report(ctx context.Context, id int64) (ReportInfo, error)
	// SaveReport creates a report (ID 0) or saves one. It is due next after now,
	// unless a save leaves its schedule as it was. Errors: fault.Invalid for wrong
	// members, fault.NotFound for an unknown id, fault.Conflict for a version that
	// is not the present one.
	SaveReport(ctx context.Context, who Actor, draft Report, webhookURL string, now time.Time) (ReportInfo, error)
	// EnableReport switches a report on or off, to be due next after now. Errors:
	// fault.NotFound when there is none with the id, fault.Conflict for a version
	// that is neither 0 nor the present one.
	EnableReport(ctx context.Context, who Actor, id, version int64, enabled bool, now time.Time) (ReportInfo, error)
	// ReportSavesSince says who saved a report since it was at a version, and what
	// they changed.
	ReportSavesSince(ctx context.Context, now *ReportInfo, version int64) (string, error)
	// DeleteReport deletes a report; the version and the errors are as for
	// EnableReport.
	DeleteReport(ctx context.Context, who Actor, id, version int64) error
}

// ChannelStore keeps channels; *store.Store.
type ChannelStore interface {
	ListChannels(ctx context.Context, p ChannelPage) ([]ChannelInfo, error)
	// ChannelOf returns the channel with a fingerprint: fault.NotFound where no
	// rule or report uses such a one.
	ChannelOf(ctx context.Context, fingerprint string) (ChannelInfo, error)
	RenameChannel(ctx context.Context, who Actor, id int64, name string) error
	RetryChannel(ctx context.Context, who Actor, id int64, which RetryMode) (cancelled int, err error)
}

// DeliveryStore keeps deliveries; *store.Store.
type DeliveryStore interface {
	ListDeliveries(ctx context.Context, f DeliveryFilter) ([]*Delivery, error)
	// DeliveriesVersion returns a text that is another one when what ListDeliveries
	// gives is; it is much cheaper.
	DeliveriesVersion(ctx context.Context, f DeliveryFilter) (string, error)
	// Delivery returns one with its attempts: fault.NotFound when there is none
	// with the id.
	Delivery(ctx context.Context, id int64) (*Delivery, []Attempt, error)
	// DigestMembers returns the deliveries that share d's digest and its end,
	// itself included, the first first, at most limit.
	DigestMembers(ctx context.Context, d *Delivery, limit int) ([]*Delivery, error)
	// Describe adds to deliveries their channels, and the rules and reports that
	// are left; what else uses the channel, where none is.
	Describe(ctx context.Context, deliveries []*Delivery) ([]DeliveryInfo, error)
	Redeliver(ctx context.Context, who Actor, ids []int64) (Redelivered, error)
	// WouldRedeliver says what Redeliver would do, and when that was so.
	WouldRedeliver(ctx context.Context, ids []int64) (Redelivered, time.Time, error)
	Cancel(ctx context.Context, who Actor, ids []int64) (int, error)
	TryNow(ctx context.Context, who Actor, id int64) error
	Summary(ctx context.Context, since time.Time) (Summary, error)
	// History returns what became of messages since a time, in steps.
	History(ctx context.Context, since time.Time, step time.Duration) ([]Sample, error)
}

// PlatformStore knows the platforms; part of other stores.
type PlatformStore interface {
	// Renew loads what other nodes changed, so that Platforms has it.
	Renew(ctx context.Context) error
	Platforms() *Platforms
}

// HookStore keeps connections, hooks and offered renames; *store.Store.
type HookStore interface {
	PlatformStore

	// CreateConnection makes a connection with its own hook, whose secret is in
	// no other answer. Errors: fault.Invalid, which names what is wrong already
	// too, and fault.Conflict where the name is taken.
	CreateConnection(ctx context.Context, who Actor, c Connection, wrong fault.Fields) (Connection, secret.Value, error)
	// SaveConnection changes the base URL and the credentials. Errors:
	// fault.Invalid as above, fault.NotFound, fault.Conflict for another
	// version or a connection of the file, and unconfirmed, where it is not nil,
	// for a change that Repurposes credentials.
	SaveConnection(ctx context.Context, who Actor, c Connection, wrong fault.Fields, unconfirmed error) (Connection, error)
	// ConnectionSavesSince says who saved a connection since it was at a version, and
	// what they changed.
	ConnectionSavesSince(ctx context.Context, now *Connection, version int64) (string, error)
	// DeleteConnection deletes a connection with all that another one of its name
	// could go by. fault.Conflict: it has rules or reports, is of the file, or is not
	// at the version any more; 0 is any.
	DeleteConnection(ctx context.Context, who Actor, name string, version int64) error

	// CreateHook makes a hook with a secret of its own. Errors: fault.Invalid,
	// fault.NotFound for an unknown connection, fault.Conflict where the name is
	// taken.
	CreateHook(ctx context.Context, who Actor, h Hook) (Hook, error)
	// RotateHook returns a hook a new secret; the old one signs for 7 days more.
	RotateHook(ctx context.Context, who Actor, connection, name string) (Hook, error)
	DeleteHook(ctx context.Context, who Actor, connection, name string) error
	// Refused counts the webhooks that were refused in the last 24 h, by
	// connection, hook and reason.
	Refused(ctx context.Context) ([]RefusedWebhooks, error)

	OfferedRenames(ctx context.Context, after int64, limit int) ([]Rename, error)
	// OfferedRename, ConfirmRename and DismissRename answer fault.NotFound, and
	// fault.Conflict for a rename that was decided, or replaced by one with
	// another new key, which has another id. ConfirmRename answers it too where
	// something is at the new key.
	OfferedRename(ctx context.Context, id int64) (Rename, error)
	ConfirmRename(ctx context.Context, who Actor, id int64) error
	DismissRename(ctx context.Context, who Actor, id int64) error
}

// BuildStore keeps the events of builds, and the commits that events named;
// *store.Store.
type BuildStore interface {
	PlatformStore
	// NamedCommits returns the repositories in which events named a commit.
	NamedCommits(ctx context.Context, connection, hash string) ([]NamedCommit, error)
	// Accept makes the event durable, unless it was there before.
	Accept(ctx context.Context, r *Receipt) error
}
