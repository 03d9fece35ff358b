package outbox

import (
	"maps"
	"strings"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/notify"
)

// steps are what happens in a history. Where the rules are steady, so is the
// order in every channel.
func (m *model) steps(steady bool) map[string]func(*rapid.T) {
	rule := func(r *rapid.T) int { return rapid.IntRange(0, 2).Draw(r, "rule") }
	steps := map[string]func(*rapid.T){
		"events": func(r *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(r, "events") {
				m.accept(r, rapid.IntRange(0, 1).Draw(r, "project"))
			}
		},
		"answers": func(r *rapid.T) {
			faultModes := []int{0, 0, 429, 404}
			if !steady { // set aside, a message gives its place up
				faultModes = append(faultModes, 503)
			}
			host := m.host(rapid.IntRange(0, 2).Draw(r, "host"))
			m.sink.mu.Lock()
			defer m.sink.mu.Unlock()
			m.sink.mode[host] = rapid.SampledFrom(faultModes).Draw(r, "answers")
		},
		"enter the URL again": func(r *rapid.T) {
			if k := rule(r); m.urls[k] != "" {
				m.enter(r, k, m.urls[k], m.rules[k].Enabled)
			}
		},
		"try again": func(r *rapid.T) {
			if k := rule(r); m.urls[k] != "" {
				m.retry(r, k, notify.RetryAll)
			}
		},
		"crash": func(r *rapid.T) {
			m.breaks++
			m.node.cut.Store(true)
			m.node.stop()
			m.start(r)
		},
		"the lease is lost": func(r *rapid.T) {
			m.breaks++
			m.start(r) // and the other goes on until it is told
		},
		"hand over": func(r *rapid.T) {
			m.node.stop()
			m.node.ended.Wait()
			m.start(r)
		},
		"time": func(*rapid.T) { <-time.After(5 * time.Millisecond) },
	}
	if steady {
		return steps
	}
	maps.Copy(steps, map[string]func(*rapid.T){
		"change the URL": func(r *rapid.T) {
			if k := rule(r); m.urls[k] != "" {
				m.save(r, k, rapid.IntRange(0, 2).Draw(r, "URL"), m.rules[k].Enabled)
			}
		},
		"share a channel that rests, and part": func(r *rapid.T) {
			url := rapid.IntRange(0, 2).Draw(r, "URL")
			m.sink.mu.Lock()
			m.sink.mode[m.host(url)] = 429
			m.sink.mu.Unlock()
			with := rapid.IntRange(0, 1).Draw(r, "with")
			m.save(r, with, url, true)
			m.save(r, 2, url, true)
			for range rapid.IntRange(1, 4).Draw(r, "events") {
				m.accept(r, with)
			}
			m.save(r, rapid.SampledFrom([]int{with, 2}).Draw(r, "which leaves"), (url+rapid.IntRange(1, 2).Draw(r, "how far"))%3, true)
		},
		"disable or enable": func(r *rapid.T) {
			if k := rule(r); m.urls[k] != "" {
				m.save(r, k, int(m.urls[k][strings.IndexByte(m.urls[k], '.')-1]-'0'), !m.rules[k].Enabled)
			}
		},
		"cancel": func(r *rapid.T) {
			m.mayEnd(r)
			var ids []int64
			for _, d := range m.list(r, notify.Waiting) {
				ids = append(ids, d.ID)
			}
			if _, err := m.front(r).Cancel(m.t.Context(), notify.Actor{Name: "test"}, ids); err != nil {
				r.Fatal(err)
			}
		},
		"cancel all but the recent, or all": func(r *rapid.T) {
			if k := rule(r); m.urls[k] != "" {
				m.mayEnd(r)
				m.retry(r, k, rapid.SampledFrom([]notify.RetryMode{notify.RetryRecent, notify.RetryNone}).Draw(r, "which"))
			}
		},
		"expire": func(r *rapid.T) {
			m.mayEnd(r)
			if _, err := m.front(r).Expire(m.t.Context(), m.shards, notify.Limits{MaxAge: time.Hour, MaxWaiting: 1}); err != nil {
				r.Fatal(err)
			}
		},
		"redeliver anything": func(r *rapid.T) {
			var ids []int64
			for _, state := range []notify.DeliveryState{notify.Delivered, notify.Failed} {
				for _, d := range m.list(r, state) {
					ids = append(ids, d.ID)
				}
			}
			m.changes += len(ids) // each arrives again
			if _, err := m.front(r).Redeliver(m.t.Context(), notify.Actor{Name: "test"}, ids); err != nil {
				r.Fatal(err)
			}
		},
		"delete a rule of a shared channel, and redeliver": func(r *rapid.T) {
			url := rapid.IntRange(0, 2).Draw(r, "URL")
			m.save(r, 0, url, true)
			for range rapid.IntRange(1, 3).Draw(r, "events") {
				m.accept(r, 0)
			}
			m.save(r, 1, url, rapid.Bool().Draw(r, "the other is enabled"))
			m.delete(r, 0)
			var ids []int64
			for _, d := range append(m.list(r, notify.Cancelled), m.list(r, notify.Delivered)...) {
				ids = append(ids, d.ID)
			}
			m.changes += len(ids)
			if _, err := m.front(r).Redeliver(m.t.Context(), notify.Actor{Name: "test"}, ids); err != nil {
				r.Fatal(err)
			}
			m.toTheirChannel(r)
		},
		"redeliver what was cancelled": func(r *rapid.T) {
			m.changes++ // one may be under way, and arrive
			var ids []int64
			for _, d := range m.list(r, notify.Cancelled) {
				ids = append(ids, d.ID)
			}
			if _, err := m.front(r).Redeliver(m.t.Context(), notify.Actor{Name: "test"}, ids); err != nil {
				r.Fatal(err)
			}
		},
		"delete or create": func(r *rapid.T) {
			k := rule(r)
			if m.urls[k] == "" {
				m.save(r, k, rapid.IntRange(0, 2).Draw(r, "URL"), true)
				return
			}
			m.delete(r, k)
		},
	})
	return steps
}
