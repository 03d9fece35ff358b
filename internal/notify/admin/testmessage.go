package admin

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// Tested is the result of a test message.
type Tested struct {
	*work.Attempt
	Opened *notify.Reopened // the channel was broken, and is not any more; nil: it is as it was
}

// TestMessages sends test messages at once, past the channel's queue. One that the
// chat platform takes opens a broken channel.
type TestMessages struct {
	Store *store.Store
	// Write makes the message: as a card of the first event type where there is
	// one.
	Write func(types []notify.EventType, f notify.Format) []byte
	// Post sends a message to a webhook URL and returns the result:
	// *outbox.Outbox.
	Post func(ctx context.Context, url secret.Value, message []byte) *work.Attempt

	users    limit.PerMinute[string] // by their Ref
	channels limit.PerMinute[string] // by the fingerprint of the URL
}

// testsAChannel is how many test messages a channel is sent in a minute by all
// users, on each node: two people who set up rules for it at the same time.
const testsAChannel = 20

// allow limits what a user asks this node for, before anything is asked of the
// database or of a platform; RecordTest counts what is sent on all nodes.
func (s *TestMessages) allow(ctx context.Context) error {
	if wait := s.users.Take(identity.From(ctx).Ref(), notify.TestsAMinute, time.Now()); wait > 0 {
		return notify.TooManyTests(wait)
	}
	return nil
}

// tested is what a test message is of.
type tested struct {
	object, id string
	at         identity.Resource
	which      notify.RetryMode // of what waits, where a broken channel is opened; "": all
}

// send posts a message about types to a webhook URL, and keeps in the audit trail
// that it did.
func (s *TestMessages) send(ctx context.Context, of tested, to secret.Value, types []notify.EventType, f notify.Format) (*Tested, error) {
	if err := s.allow(ctx); err != nil {
		return nil, err
	}
	return s.post(ctx, of, to, func(f notify.Format) []byte { return s.Write(types, f) }, f)
}

// post is send for what allow has let through: write makes the message.
func (s *TestMessages) post(
	ctx context.Context, of tested, to secret.Value, write func(notify.Format) []byte, f notify.Format,
) (*Tested, error) {
	u, err := url.Parse(to.Reveal())
	if err != nil {
		return nil, fault.InvalidField("webhookUrl", "It is not a URL.")
	}
	if wait := s.channels.Take(string(secret.Fingerprint(to.Reveal())), testsAChannel, time.Now()); wait > 0 {
		return nil, fault.TooOften(wait, "This channel was sent %d test messages within a minute. Wait a moment.", testsAChannel)
	}
	if err := s.Store.RecordTest(ctx, actor(ctx), of.object, of.id, of.at, secret.MaskURL(to.Reveal())); err != nil {
		return nil, err
	}
	done := &Tested{Attempt: s.Post(ctx, to, write(f.ResolveFormat(u.Hostname())))}
	notify.ShowAttempt(done.Attempt, notify.ReadsInside(ctx))
	if done.Err == "" && done.Status/100 == 2 {
		done.Opened, err = s.Store.OpenTested(context.WithoutCancel(ctx), actor(ctx), to, cmp.Or(of.which, notify.RetryAll))
	}
	return done, err
}

// Test posts a test message and returns what the chat platform answered. Where it takes
// the message, a broken channel is open again, and of the messages that wait on it
// those go out that which says; "" is all.
func (s *Channels) Test(ctx context.Context, channel string, which notify.RetryMode) (*Tested, error) {
	if which != "" && !slices.Contains(notify.RetryModes(), which) {
		return nil, wrongWhich()
	}
	c, err := s.changeable(ctx, channel)
	if err != nil {
		return nil, err
	}
	_, to, err := s.Tests.Store.Channel(ctx, c.ID)
	if err == nil && to.IsZero() {
		err = fault.New(fault.Conflict, "No rule uses the channel any more.")
	}
	if err != nil {
		return nil, err
	}
	return s.Tests.send(ctx, tested{object: "channel", id: c.UnderID(), which: which}, to, nil, c.MessageFormat())
}

// stored returns the webhook URL of what is tested, and the format of messages there;
// what names it to people.
func (s *TestMessages) stored(ctx context.Context, channel int64, what string, own notify.Format) (secret.Value, notify.Format, error) {
	c, to, err := s.Store.Channel(ctx, channel)
	if err == nil && to.IsZero() {
		err = fault.InvalidField("webhookUrl", "No webhook URL is stored for this %s; enter it.", what)
	}
	return to, own.Else(c.Format), err
}

// Test posts a test message of a rule as it is typed, saved or not, and returns
// what the chat platform answered. Of the members only those that the message
// needs are looked at: where the rule belongs, the URL, the format, the event
// types. An empty or masked webhookURL is the stored one of the rule with the
// draft's id. The permissions are those of Save; wrong is what the caller found already.
func (s *Rules) Test(ctx context.Context, draft notify.Rule, webhookURL string, wrong fault.Fields) (*Tested, error) {
	draft = draft.Trimmed()
	var stored notify.RuleInfo
	if draft.ID > 0 {
		var err error
		if stored, err = s.Get(ctx, draft.ID); err != nil {
			return nil, err
		}
		draft.Connection, draft.ProjectKey, draft.RepositoryKey = stored.Connection, stored.ProjectKey, stored.RepositoryKey
	} else if err := s.place(ctx, &draft, &wrong); err != nil {
		return nil, err
	}
	if !draft.Format.Known() {
		wrong.Add("format", "%q is not a format; use auto, teams or slack.", draft.Format)
	}
	var err error
	draft.ChannelID, webhookURL, err = chosen(ctx, s.Store, draft.Choice, &stored.Channel, webhookURL)
	if err := wrong.Join(err); err != nil {
		return nil, err
	}
	keep := webhookURL == "" || secret.IsMask(webhookURL)
	err = checkURL(s.CheckURL, webhookURL, "rule", draft.ID, draft.ChannelID)
	if err == nil && keep && webhookURL != "" && webhookURL != stored.Channel.Mask {
		err = fault.InvalidField("webhookUrl", notify.OtherMask)
	}
	if err := wrong.Join(err); err != nil {
		return nil, err
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	to := secret.New(webhookURL)
	if keep {
		if to, draft.Format, err = s.Tests.stored(ctx, cmp.Or(draft.ChannelID, stored.ChannelID), "rule", draft.Format); err != nil {
			return nil, err
		}
	}
	of := tested{object: "rule", at: identity.Resource{Connection: draft.Connection, Project: draft.ProjectKey,
		Repository: draft.RepositoryKey}}
	if draft.ID != 0 {
		of.id = strconv.FormatInt(draft.ID, 10)
	}
	return s.Tests.send(ctx, of, to, draft.EventTypes, draft.Format)
}

// Test sends what a report as it is typed, saved or not, says now, and returns what
// the chat platform answered. Of the members only those that the message needs
// are looked at: not when the report is due. An empty or masked webhookURL is the
// stored one of the report with the draft's id. The permissions are those of Save; wrong is
// what the caller found already. Errors: fault.RateLimited, and fault.Unavailable
// where the code platform does not answer.
func (s *Reports) Test(ctx context.Context, draft notify.Report, webhookURL string, wrong fault.Fields) (*Tested, error) {
	draft, stored, err := s.prepare(ctx, draft, &wrong)
	if err != nil {
		return nil, err
	}
	draft.ChannelID, webhookURL, err = chosen(ctx, s.Store, draft.Choice, &stored.Channel, webhookURL)
	if err := wrong.Join(err); err != nil {
		return nil, err
	}
	draft.ValidateContent(&wrong)
	if err := wrong.Join(checkURL(s.CheckURL, webhookURL, "report", draft.ID, draft.ChannelID)); err != nil {
		return nil, err
	}
	keep := webhookURL == "" || secret.IsMask(webhookURL)
	if keep && webhookURL != "" && draft.ID != 0 && webhookURL != stored.Channel.Mask {
		wrong.Add("webhookUrl", notify.OtherMask)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	to := secret.New(webhookURL)
	if keep {
		if to, draft.Format, err = s.Tests.stored(ctx, cmp.Or(draft.ChannelID, stored.ChannelID), "report", draft.Format); err != nil {
			return nil, err
		}
	}
	if err := s.Tests.allow(ctx); err != nil { // before the platform is asked
		return nil, err
	}
	e, err := s.askNow(ctx, &draft)
	if err != nil {
		return nil, err
	}
	of := tested{object: "report", at: identity.Resource{Connection: draft.Connection, Project: draft.ProjectKey,
		Repository: draft.RepositoryKey}}
	if draft.ID != 0 {
		of.id = strconv.FormatInt(draft.ID, 10)
	}
	return s.Tests.post(ctx, of, to, func(f notify.Format) []byte { return s.Write(e, f) }, draft.Format)
}
