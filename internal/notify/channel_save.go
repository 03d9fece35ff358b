package notify

import (
	"strings"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// MaxOwnChannels is how many channels a user may have made that nothing sends to.
const MaxOwnChannels = 100

// ChannelDraft is what people set of a channel.
type ChannelDraft struct {
	Version    int64 // of the channel that was read; 0: any
	Name       string
	Format     Format
	SharedWith Sharing
}

// ChannelEdit is a change of a channel; what is left out stays as it is.
type ChannelEdit struct {
	Version    int64    `json:"version,omitempty" doc:"Of the channel that was read. A stale one is 409; 0 or none: the save goes through."`
	Name       *string  `json:"name,omitempty" max:"255" doc:"What it is called; empty: as its rules call it."`
	Format     *Format  `json:"format,omitempty" enum:"auto,teams,slack" doc:"Of messages for rules and reports whose own is auto."`
	SharedWith *Sharing `json:"sharedWith,omitempty"`
	WebhookURL string   `json:"webhookUrl,omitempty"` // replaces the present one; empty or the channel's own mask: none does

	Test  bool      `query:"test" json:"-" doc:"Posts a test message to a new webhook URL first, and saves only if it is taken."`
	Which RetryMode `query:"which" json:"-" enum:"all,recent,none"` // of what waits when the URL is replaced; "": all
}

// Onto is a draft with the change.
func (e *ChannelEdit) Onto(d ChannelDraft) ChannelDraft {
	if e.Name != nil {
		d.Name = *e.Name
	}
	if e.Format != nil {
		d.Format = *e.Format
	}
	if e.SharedWith != nil {
		d.SharedWith = *e.SharedWith
	}
	return d
}

// ChannelChange is what a save makes of a channel.
type ChannelChange struct {
	ChannelDraft
	URL    secret.Value // that replaces the present one; zero: none does
	Tested bool         // the chat platform took a test message there
	Which  RetryMode    // of what waits when the URL is replaced; "": all
}

// Draft is the channel as it is.
func (c *ChannelInfo) Draft() ChannelDraft {
	return ChannelDraft{Name: c.Named, Format: c.Format, SharedWith: c.SharedWith}
}

// Validate trims the draft and notes what is wrong with it.
func (d *ChannelDraft) Validate(connections Connections, wrong *fault.Fields) {
	d.Name = strings.TrimSpace(d.Name)
	if n := utf8.RuneCountInString(d.Name); n > MaxName {
		wrong.Add("name", "The name has %d characters; at most %d are allowed.", n, MaxName)
	}
	d.Format = d.Format.Else(Auto)
	if !d.Format.Known() {
		wrong.Add("format", "%q is not a format; use auto, teams or slack.", d.Format)
	}
	d.SharedWith.normalize(connections, wrong)
}

// Present is the channel's version, and who saved it last.
func (c *ChannelInfo) Present() Present {
	return Present{What: "channel", Version: c.Version, By: c.UpdatedBy, At: c.UpdatedAt}
}

// Audited is what the audit trail keeps of a channel, the webhook URL masked.
func (c *ChannelInfo) Audited() map[string]string {
	if c == nil {
		return nil
	}
	return map[string]string{
		"name": c.Named, "format": string(c.Format), "sharedWith": c.SharedWith.String(), "webhookUrl": c.Mask, "channel": c.Fingerprint,
	}
}

// URLTaken is the cause of the conflict of a webhook URL that a channel has already.
type URLTaken struct{ Channel int64 }

func (*URLTaken) Error() string { return "the webhook URL is taken" }

// TakenURL is the answer, caused by a URLTaken, to who wants a webhook URL for a channel that another one has.
func TakenURL(other int64) error {
	return fault.Wrap(&URLTaken{other}, fault.Conflict, "Channel %d has this webhook URL already. Choose that channel for your rules and "+
		"reports instead.", other)
}
