package notify

import (
	"context"
	"slices"
	"strings"
	"time"

	"outrigger/internal/identity"
)

// ChannelInfo is a channel and the rules and reports that send to it.
type ChannelInfo struct {
	Channel
	Rules   []ChannelRule // by name
	Reports []Report      // by name

	Kept       bool // it was named, shared or made by itself, and stays without rules and reports
	SharedWith Sharing
	WasShared  bool  // it is shared, or was
	OwnerID    int64 // the user who made it, or had it stay; 0: a rule or report made it
	UpdatedBy  string
	UpdatedAt  time.Time

	Held      int       // of the messages that wait, those that quiet hours hold
	HeldUntil time.Time // when the first of these quiet hours ends; zero: none hold
}

// ChannelRule is what a channel has of a rule that sends to it.
type ChannelRule struct {
	ID            int64
	Name          string
	Connection    string
	ProjectKey    string
	RepositoryKey string
	ChannelName   string
	Format        Format
}

// Access is the permission that the rule needs, and where.
func (r *ChannelRule) Access() (identity.Permission, identity.Resource) {
	return AccessOf(r.Connection, r.ProjectKey, r.RepositoryKey)
}

// NextTry says when the channel is tried next: at is zero where it is at once;
// held says that quiet hours end then. Without anything that waits, ok is false.
func (c *ChannelInfo) NextTry(now time.Time) (at time.Time, held, ok bool) {
	switch {
	case c.Status(now).Until.After(now):
		return c.Status(now).Until, false, true
	case c.Waiting == 0:
		return time.Time{}, false, false
	case c.Held >= c.Waiting:
		return c.HeldUntil, true, true
	}
	return time.Time{}, false, true
}

// Name is what people call the channel: its own name, else as its rules and reports
// call it, else its host.
func (c *ChannelInfo) Name() string {
	if name := c.Called(); name != "" {
		return name
	}
	return c.Nameless()
}

// Nameless is what people call the channel where nothing gives it a name.
func (c *Channel) Nameless() string { return c.Host + " " + c.Fingerprint[:min(len(c.Fingerprint), 6)] }

// Matches reports whether the channel's name has what was searched for.
func (c *ChannelInfo) Matches(search string) bool {
	return strings.Contains(Fold(c.Name()), Fold(search))
}

// Called is the channel's name, its own or by its rules and reports; "" where it has
// none.
func (c *ChannelInfo) Called() string {
	if c.Named != "" {
		return c.Named
	}
	for i := range c.Rules {
		if name := c.Rules[i].ChannelName; name != "" {
			return name
		}
	}
	for i := range c.Reports {
		if name := c.Reports[i].ChannelName; name != "" {
			return name
		}
	}
	return ""
}

// MessageFormat is that of a message for the channel itself.
func (c *ChannelInfo) MessageFormat() Format { return c.OwnFormat().ResolveFormat(c.Host) }

// OwnFormat is the channel's format, else that of its first rule or report.
func (c *ChannelInfo) OwnFormat() Format {
	own := Auto
	switch {
	case len(c.Rules) > 0:
		own = c.Rules[0].Format
	case len(c.Reports) > 0:
		own = c.Reports[0].Format
	}
	return c.Format.Else(own)
}

// ChannelPage asks for channels that rules or reports use: those in trouble first.
type ChannelPage struct {
	AfterRank int // of the last one of the page before, with its id
	AfterID   int64
	Limit     int
	Search    string                  // only channels with this in their names, ASCII letters without case; "" is every name
	InTrouble bool                    // only those whose Rank is above 0
	Uncounted bool                    // without how many messages wait and are held
	Visible   func(*ChannelInfo) bool // channels that it refuses are passed over
}

// VisibleTo reports whether the principal may have rules and reports send to the
// channel, and so see it: it administers one that does, made the channel, or it is
// shared with it.
func (c *ChannelInfo) VisibleTo(who *identity.Principal) bool {
	return slices.ContainsFunc(c.Rules, func(r ChannelRule) bool { return who.May(r.Access()) }) ||
		slices.ContainsFunc(c.Reports, func(r Report) bool { return who.May(r.Access()) }) ||
		c.ownedBy(who) || c.SharedWith.reaches(who) || who.May(identity.Admin, identity.Resource{})
}

// ownedBy reports whether the principal made the channel, and still administers
// anything.
func (c *ChannelInfo) ownedBy(who *identity.Principal) bool {
	return AdministersAny(who) && c.OwnerID != 0 && c.OwnerID == who.UserID
}

// ChangeableBy reports whether the principal may change the channel: it administers
// every rule and report that sends to it. One that none sends to, or that is or was
// shared, is changed by who made it, and by administrators.
func (c *ChannelInfo) ChangeableBy(who *identity.Principal) bool {
	if c.Others(who) > 0 {
		return false
	}
	return !c.ofItself() || c.ownedBy(who) || who.May(identity.Admin, identity.Resource{})
}

// ofItself reports whether administering its rules and reports is not enough to
// change the channel: it has none, or they may be those of users with whom it was
// shared, while others rely on where it sends.
func (c *ChannelInfo) ofItself() bool {
	return len(c.Rules)+len(c.Reports) == 0 || c.WasShared
}

// Others counts the rules and reports that the principal does not administer.
func (c *ChannelInfo) Others(who *identity.Principal) (n int) {
	for i := range c.Rules {
		if !who.May(c.Rules[i].Access()) {
			n++
		}
	}
	for i := range c.Reports {
		if !who.May(c.Reports[i].Access()) {
			n++
		}
	}
	return n
}

// ProxyTrouble is why the channels that go by the outgoing proxy wait; the zero
// value while they do not.
type ProxyTrouble struct {
	Since  time.Time
	Reason string
}

// Sentence says it; "" while there is none.
func (t ProxyTrouble) Sentence() string {
	if t.Since.IsZero() {
		return ""
	}
	return "The proxy has let nothing through since " + t.Since.UTC().Format("2006-01-02 15:04 UTC") +
		", and every channel that goes by it waits: " + t.Reason + ". It is tried again at least every 30 s."
}

// SentenceFor is Sentence for who asks: administrators alone read which proxy it is,
// and what it answers.
func (t ProxyTrouble) SentenceFor(ctx context.Context) string {
	if !ReadsInside(ctx) {
		t.Reason = "an administrator can see why"
	}
	return t.Sentence()
}

// MaxListed is how many of a channel's waiting messages a list counts: with
// hundreds of thousands waiting, a list takes little longer than with none, and
// that so many wait is all that people look for in one.
const MaxListed = 100

// MaxCounted is how far a Summary counts: the overview takes as long with
// millions of deliveries as with this many.
const MaxCounted = 10_000

// Summary is the wing at a glance.
type Summary struct {
	Delivered         int  // since the time asked for; what a process that was killed delivered in its last minute is not in it
	Failed            int  // since the time asked for; MaxCounted is that many or more
	Waiting           int  // MaxCounted is that many or more
	AnyRule, AnyEvent bool // ever
	NotUnderstood     int
	NotUnderstoodAt   time.Time     // the first of them
	Troubled          []ChannelInfo // broken, or failing for minutes: the worst 10
	InTrouble         int           // all of these
	OthersSince       time.Time     // since when the first of those that Troubled leaves out is
	Retrying          Retrying
}

// Sample is what became of messages in a step of time that began at At.
type Sample struct {
	At        time.Time
	Delivered int64
	Failed    int64 // for good, expired ones among them
	Waiting   int64 // at most at once; counted to MaxCounted
}

// Retrying is what waits on channels that refused it and are tried again, and that are
// not in trouble yet.
type Retrying struct {
	Channels, Messages int       // MaxListed channels, or messages of a channel, are that many or more
	Next               time.Time // when the first of them is tried
}

// Add counts a channel and what waits on it, where that is tried again.
func (r *Retrying) Add(c *ChannelInfo, now time.Time) {
	at, held, waits := c.NextTry(now)
	if c.Waiting == 0 || !waits || held || c.FailingSince.IsZero() || c.State == Broken {
		return
	}
	if r.Channels == 0 || at.Before(r.Next) {
		r.Next = at
	}
	r.Channels, r.Messages = r.Channels+1, r.Messages+c.Waiting-c.Held
}
