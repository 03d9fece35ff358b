package notify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"outrigger/internal/fault"
)

// RuleInfo is a rule and its channel, as people see them.
type RuleInfo struct {
	Rule
	Channel Channel
	Last    LastMessage // set by Rules.Page
	Account RuleAccount
	// Caution is what Rules.Caution found out about the webhook URL.
	Caution string
	Backlog RuleBacklog // set by Rules.Page and Rules.Get
}

// RuleBacklog is what waits for a rule, among the oldest messages of its channel: 1,000
// of them for a single rule, MaxListed for each rule of a list.
type RuleBacklog struct {
	Waiting int
	Alone   int  // of these, what no other rule took too
	More    bool // more than these wait on the channel, of which some may be for the rule
}

// RuleAccount is the account of the cloud platform that a rule of the cloud
// edition belongs to; zero where it has none.
type RuleAccount struct {
	Name  string
	State AuthorizationState
}

// AuthorizationRequired reports whether the rule's account has to be authorised
// again.
func (r *RuleInfo) AuthorizationRequired() bool {
	return r.Account.State == AuthorizationWithdrawn || r.Account.State == AuthorizationRevoked
}

// LastMessage is the newest delivery of a rule.
type LastMessage struct {
	State DeliveryState // "": the rule has none that is still stored
	At    time.Time     // when it ended, or when its event came in while it waits
}

// Called is the name of the rule's channel: its own, else as the rule calls it.
func (r *RuleInfo) Called() string { return cmp.Or(r.Channel.Named, r.ChannelName) }

// Warnings are those of the rule, and what was found out about its URL.
func (r *RuleInfo) Warnings() []fault.Field {
	f := r.Rule.Warnings()
	if r.Caution != "" {
		f = append(f, fault.Field{Name: "webhookUrl", Message: r.Caution})
	}
	return f
}

// RuleQuery says which rules a list holds: those of one level and its keys.
// Connection empty means every connection.
type RuleQuery struct {
	Connection    string
	ProjectKey    string
	RepositoryKey string
}

// Audited is what the audit trail keeps of a rule: its members by their
// public names, the webhook URL masked.
func (r *RuleInfo) Audited() map[string]string {
	if r == nil {
		return nil
	}
	filter, _ := json.Marshal(r.Filter) // strings and keys always encode
	options, _ := json.Marshal(r.Options)
	return map[string]string{
		"projectKey": r.ProjectKey, "repositoryKey": r.RepositoryKey,
		"name": r.Name, "webhookUrl": r.Channel.Mask, "channel": r.Channel.Fingerprint, "channelName": r.ChannelName,
		"format": string(r.Format), "filter": string(filter), "options": string(options), "enabled": fmt.Sprint(r.Enabled),
	}
}

// RulePage asks for rules of one level and edition, whatever their keys, by name.
type RulePage struct {
	Level      Level   // "" is every level
	Search     string  // only rules with this in their name, ASCII letters without case; "" is every name
	Edition    Edition // "" is both
	Connection string  // only this one's; "" is every one
	Project    string  // only this project's, compared without case; "" is every one
	Repository string
	Channel    int64  // only those that send there; 0 is every one
	AfterName  string // the last rule of the page before, by name and id
	AfterID    int64
	Limit      int
	Visible    func(*Rule) bool // rules that it refuses, by id, name and place, are passed over
}
