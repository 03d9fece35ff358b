package stored

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"outrigger/internal/loadtest"
)

const codePath = "/rest/mtbs/1.0/configuration"

// Inventory is what a program answers about what it stores, by the path asked.
type Inventory map[string]any

// fixed are the paths that are the same for every database; others follow from the answers.
func fixed() []string {
	return []string{
		"/rest/outrigger/1.0/users?limit=1000",
		"/rest/outrigger/1.0/audit?limit=1000",
		"/rest/outrigger/1.0/tokens?user=admin&limit=1000",
		"/rest/outrigger/1.0/connections?limit=1000",
		"/rest/outrigger/1.0/mail/messages?limit=1000",
		"/rest/mtbs/1.0/cloud/authorizations?limit=1000",
		"/rest/mtbs/1.0/cloud/atlas/engine/rules?connection=cloud",
		codePath + "/filter?connection=code",
		codePath + "/filter?connection=code&projectKey=ATL",
		codePath + "/filter?connection=code&projectKey=ATL&repositoryKey=card-reader",
		codePath + "/reports?connection=code&limit=1000",
		codePath + "/mentions?connection=code&limit=1000",
		codePath + "/events?limit=1000",
		codePath + "/deliveries?limit=1000",
		codePath + "/channels?limit=1000",
		codePath + "/settings",
		"/rest/mailqueue/1.0/status",
		"/rest/threaded-comments/1.0/source",
		"/rest/threaded-comments/1.0/migration/status",
		"/rest/threaded-comments/1.0/migration/uploads",
	}
}

// Take asks a program for everything.
func Take(ctx context.Context, p *loadtest.Process) (Inventory, error) {
	inventory := Inventory{}
	ask := func(path string) error {
		var raw json.RawMessage
		if err := p.Ask(ctx, "GET", path, nil, &raw); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		// Where it listens is no part of what it stores.
		var answer any
		err := json.Unmarshal(bytes.ReplaceAll(raw, []byte("http://"+p.Addr()), nil), &answer)
		inventory[path] = answer
		return err
	}
	for _, path := range fixed() {
		if err := ask(path); err != nil {
			return nil, err
		}
	}
	for list, more := range map[string]struct{ member, below string }{
		"/rest/outrigger/1.0/users":         {"name", "/grants"},
		"/rest/outrigger/1.0/connections":   {"name", "/hooks"},
		"/rest/outrigger/1.0/mail/messages": {"id", ""},
		codePath + "/deliveries":            {"id", ""},
		codePath + "/events":                {"id", "/explain"},
	} {
		for _, id := range members(inventory[list+"?limit=1000"], more.member) {
			if err := ask(list + "/" + url.PathEscape(id) + more.below); err != nil {
				return nil, err
			}
		}
	}
	return inventory, nil
}

// members are the values of a member of the items of a list.
func members(list any, name string) (all []string) {
	page, _ := list.(map[string]any)
	items, _ := page["items"].([]any)
	for _, item := range items {
		if member, ok := item.(map[string]any)[name]; ok {
			all = append(all, fmt.Sprint(member))
		}
	}
	return all
}

// passing are the members that go on while everything waits: how often a message was
// tried, and what the last try met.
var passing = []string{"attempts", "reason"}

// Missing compares what a program answers today, later by shift, with what was
// answered when the database was stored: each member that was there is there. What
// came since may be more.
func (i Inventory) Missing(today Inventory, shift time.Duration) (lost []string) {
	for _, path := range slices.Sorted(maps.Keys(i)) {
		lost = append(lost, missing(path, i[path], today[path], shift)...)
	}
	return lost
}

func missing(at string, was, is any, shift time.Duration) (lost []string) {
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok {
			return []string{at + " is gone"}
		}
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if slices.Contains(passing, name) {
				continue
			}
			if _, ok := is[name]; !ok {
				lost = append(lost, at+"."+name+" is gone")
				continue
			}
			lost = append(lost, missing(at+"."+name, was[name], is[name], shift)...)
		}
	case []any:
		is, ok := is.([]any)
		if !ok || len(is) < len(was) {
			return []string{fmt.Sprintf("%s had %d items and has %d", at, len(was), len(is))}
		}
		// What came since is before it or after it.
		for n := range was {
			one := missing(fmt.Sprintf("%s[%d]", at, n), was[n], is[n], shift)
			if later := missing(fmt.Sprintf("%s[%d]", at, n), was[n], is[n+len(is)-len(was)], shift); len(later) < len(one) {
				one = later
			}
			lost = append(lost, one...)
		}
	default:
		if was != is && !sameTime(was, is, shift) {
			lost = append(lost, fmt.Sprintf("%s was %v and is %v", at, was, is))
		}
	}
	return lost
}

func sameTime(was, is any, shift time.Duration) bool {
	one, _ := was.(string)
	other, _ := is.(string)
	before, err := time.Parse(time.RFC3339, one)
	after, err2 := time.Parse(time.RFC3339, other)
	return err == nil && err2 == nil && before.Add(shift).Equal(after)
}

// Waiting counts the deliveries that waited for their channel, by channel.
func (i Inventory) Waiting() map[string]int {
	counts := map[string]int{}
	page, _ := i[codePath+"/deliveries?limit=1000"].(map[string]any)
	items, _ := page["items"].([]any)
	for _, item := range items {
		d := item.(map[string]any)
		if d["state"] == "waiting" || d["state"] == "deciding" {
			counts[strings.ToLower(fmt.Sprint(d["channelName"]))]++
		}
	}
	return counts
}
