package mailqueue

import (
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
)

// MessageFilter selects messages; zero members ask nothing. State and Recipient
// together ask for one recipient that is both: what is done to all that a filter
// selects is done to such recipients and to no others.
type MessageFilter struct {
	NodeID    string
	State     State         // Waiting: the mail queue; Failed: the error queue; "": both
	Sender    string        // a part of the envelope sender, in any case
	Recipient string        // a part of a recipient's address, in any case
	Subject   string        // a part of the subject, in any case
	Age       time.Duration // queued at least so long ago
	IDs       []int64       // these messages and no others; nil: any

	// What the user was asked about and agreed to: when that was, and how many
	// messages it were. What the filter came to select later is left alone, and more
	// than so many are fault.Conflict. Zero: the user was not asked.
	AsOf  time.Time
	Count int64

	After int64 // messages with a higher id only: the page after it
	Limit int   // at most 1,001
}

// IsEverything reports whether the filter selects all messages of all nodes.
func (f *MessageFilter) IsEverything() bool {
	return f.NodeID == "" && f.State == "" && f.Sender == "" && f.Recipient == "" && f.Subject == "" && f.Age == 0 && f.IDs == nil
}

// Selects reports whether a recipient that waits or failed is among those that the
// filter is about.
func (f *MessageFilter) Selects(address string, s State) bool {
	return (f.State == "" || f.State == s) && strings.Contains(lower(address), lower(f.Recipient))
}

// In narrows the filter to recipients in one state.
func (f MessageFilter) In(s State) MessageFilter {
	if f.State != "" && f.State != s {
		f.IDs = []int64{} // none is in both
	}
	f.State = s
	return f
}

// lower is for ASCII alone, as both databases have it.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// Members are what the filter asks, by the names of the REST API.
func (f *MessageFilter) Members() map[string]string {
	members := make(map[string]string)
	for name, value := range map[string]string{
		"node": f.NodeID, "state": string(f.State), "sender": f.Sender, "recipient": f.Recipient, "subject": f.Subject,
	} {
		if value != "" {
			members[name] = value
		}
	}
	if f.Age > 0 {
		members["age"] = f.Age.String()
	}
	if !f.AsOf.IsZero() {
		members["asOf"], members["count"] = f.AsOf.UTC().Format(time.RFC3339Nano), strconv.FormatInt(f.Count, 10)
	}
	if f.IDs != nil {
		ids := make([]string, len(f.IDs))
		for i, id := range f.IDs {
			ids[i] = strconv.FormatInt(id, 10)
		}
		members["id"] = strings.Join(ids, ",")
	}
	return members
}

// ParseFilter reads a filter by the names that Members has; an empty member asks
// nothing. Invalid names every member that is wrong.
func ParseFilter(get func(name string) string) (MessageFilter, error) {
	f := MessageFilter{NodeID: get("node"), State: State(get("state")), Sender: get("sender"), Recipient: get("recipient"),
		Subject: get("subject")}
	var wrong fault.Fields
	if f.State != "" && f.State != Waiting && f.State != Failed {
		wrong.Add("state", "Use one of %s, %s.", Waiting, Failed)
	}
	var ok bool
	if f.Age, ok = parseAge(get("age")); !ok {
		wrong.Add("age", "Write a minimum age, such as 90m, 12h or 3d.")
	}
	return f, wrong.Err()
}

// parseAge reads a duration, which may be in days.
func parseAge(s string) (time.Duration, bool) {
	if s == "" {
		return 0, true
	}
	if days, found := strings.CutSuffix(s, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	age, err := time.ParseDuration(s)
	return age, err == nil && age >= 0
}
