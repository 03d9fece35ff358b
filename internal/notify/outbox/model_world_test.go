package outbox

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

func (m *model) host(n int) string { return fmt.Sprintf("run%d-%d.example.com", m.run, n) }

// urlOf is one of three; two rules may share it.
func (m *model) urlOf(n int) string { return "https://" + m.host(n) + "/hook" }

// front is the node that a request comes to.
func (m *model) front(r *rapid.T) *store.Store {
	if m.alone || rapid.Bool().Draw(r, "the node with the shards") {
		return m.node.Store
	}
	return m.other
}

// save saves rule k, the last of which takes every project, with a URL.
func (m *model) save(r *rapid.T, k, url int, enabled bool) {
	if !enabled {
		m.off(k)
	}
	m.changes++
	m.enter(r, k, m.urlOf(url), enabled)
}

// off notes that what waits for rule k may be cancelled.
func (m *model) off(k int) {
	for _, e := range m.events {
		if _, ok := e.off[m.rules[k].ID]; ok {
			e.off[m.rules[k].ID] = true
		}
	}
}

func (m *model) enter(r *rapid.T, k int, url string, enabled bool) {
	rule := m.rules[k].Rule
	rule.Version, rule.Enabled = 0, enabled
	if rule.ID == 0 {
		rule = notify.Rule{Name: "model", Connection: m.connection(), Format: notify.Teams, Enabled: enabled, Filter: notify.Filter{EventTypes: []notify.EventType{notify.TagCreated}}}
		if k < 2 {
			rule.ProjectKey = fmt.Sprint("P", k)
		}
		if k == 1 { // decided behind the event
			rule.BranchMask = `(?!no$).*`
		}
	}
	info, err := m.front(r).SaveRule(m.t.Context(), notify.Actor{Name: "test"}, rule, url)
	if err != nil {
		r.Fatal(err)
	}
	m.rules[k], m.urls[k] = info, url
	m.eachInItsChannel(r)
}

// eachInItsChannel holds every message that waits to its rules: each of them that has
// always been enabled, and is not decided behind the event, sends to its channel.
func (m *model) eachInItsChannel(r *rapid.T) {
	off := make(map[string]map[int64]bool)
	for _, e := range m.events {
		off[e.name] = e.off
	}
	for _, d := range m.unfinished(r, m.front(r)) {
		for _, rule := range m.rules {
			if !off[d.Event.URL][rule.ID] && slices.Contains(d.Rules, rule.ID) && rule.ChannelID != d.ChannelID && rule.ID != m.rules[1].ID {
				r.Errorf("%s for the rules %v waits on channel %d, and rule %d sends to channel %d", d.Event.URL, d.Rules, d.ChannelID, rule.ID, rule.ChannelID)
			}
		}
	}
}

// delete deletes rule k.
func (m *model) delete(r *rapid.T, k int) {
	m.changes++
	m.off(k)
	if err := m.front(r).DeleteRule(m.t.Context(), notify.Actor{Name: "test"}, m.rules[k].ID, 0); err != nil {
		r.Fatal(err)
	}
	m.rules[k], m.urls[k] = notify.RuleInfo{}, ""
	m.toTheirChannel(r)
}

// toTheirChannel holds what waits for its channel itself to that: a rule uses the
// channel, and none that it was for is left.
func (m *model) toTheirChannel(r *rapid.T) {
	for _, d := range m.unfinished(r, m.front(r)) {
		if !d.ToChannel {
			continue
		}
		if !slices.ContainsFunc(m.rules, func(rule notify.RuleInfo) bool { return rule.ChannelID == d.ChannelID }) {
			r.Errorf("%s waits for channel %d itself, which nothing uses", d.Event.URL, d.ChannelID)
		}
		if slices.ContainsFunc(m.rules, func(rule notify.RuleInfo) bool { return slices.Contains(d.Rules, rule.ID) }) {
			r.Errorf("%s waits for channel %d itself, and not all of the rules %v are deleted", d.Event.URL, d.ChannelID, d.Rules)
		}
	}
}

// mayEnd notes that what waits now may be ended by hand or by a limit.
func (m *model) mayEnd(r *rapid.T) {
	for _, d := range m.unfinished(r, m.front(r)) {
		for _, e := range m.events {
			e.ended = e.ended || e.name == d.Event.URL
		}
	}
}

// unfinished returns what waits or is undecided.
func (m *model) unfinished(r *rapid.T, s *store.Store) (found []*notify.Delivery) {
	for _, state := range []notify.DeliveryState{notify.Deciding, notify.Waiting} {
		some, err := s.ListDeliveries(m.t.Context(), notify.DeliveryFilter{State: state, Limit: 1000})
		if err != nil {
			r.Fatal(err)
		}
		found = append(found, some...)
	}
	return found
}

// list returns the newest three deliveries of this history in a state.
func (m *model) list(r *rapid.T, state notify.DeliveryState) (found []*notify.Delivery) {
	all, err := m.front(r).ListDeliveries(m.t.Context(), notify.DeliveryFilter{State: state, Limit: 3})
	if err != nil {
		r.Fatal(err)
	}
	for _, d := range all {
		if d.Event.Connection == m.connection() {
			found = append(found, d)
		}
	}
	return found
}

func (m *model) connection() string { return fmt.Sprintf("run%d", m.run) }

// accept takes an event of project k, which the last rule takes too.
func (m *model) accept(r *rapid.T, k int) {
	e := &modelEvent{name: fmt.Sprintf("https://%s/%04d", m.connection(), len(m.events)), off: make(map[int64]bool)}
	branch := rapid.SampledFrom([]string{"yes", "no"}).Draw(r, "branch")
	var channels []string
	for _, rule := range []int{k, 2} {
		if m.urls[rule] != "" && m.rules[rule].Enabled {
			e.off[m.rules[rule].ID] = false
			if rule == 1 && branch == "no" {
				e.refuses = m.rules[rule].ID
				continue
			}
			channels = append(channels, m.urls[rule])
		}
	}
	slices.Sort(channels)
	e.takes = len(channels)
	e.wants = len(slices.Compact(channels))
	receipt := &notify.Receipt{
		Connection: m.connection(), Key: "test", RequestID: e.name, ReceivedAt: time.Now(), Outcome: notify.Understood, Digest: []byte(e.name),
		Events: []notify.Event{{
			Types: []notify.EventType{notify.TagCreated}, Connection: m.connection(), URL: e.name, Branch: branch, Project: notify.Project{Key: fmt.Sprint("P", k)},
		}},
	}
	if err := m.front(r).Accept(m.t.Context(), receipt); err != nil {
		r.Fatal(err)
	}
	m.events = append(m.events, e)
}
