package config

import (
	"fmt"
	"slices"
	"strings"
)

// ChangedSetting is a setting that has another value than before, in words without secrets.
type ChangedSetting struct {
	Setting string `json:"setting" doc:"Its key, as in the configuration file." example:"log.level"`
	Text    string `json:"text" doc:"What it was and what it is; of connections which ones changed, and in what." example:"info, now debug"`
}

// Reloaded returns c with those values of fresh that a running server takes on: the
// level of the log, the trusted proxies and the connections. It lists what of them
// changed, and the keys of other settings that changed, which need a restart.
func (c *Config) Reloaded(fresh *Config) (next *Config, changes []ChangedSetting, restart []string) {
	reloaded := *c
	for _, key := range changed(c, fresh) {
		switch key {
		case "log.level":
			reloaded.Log.Level = fresh.Log.Level
			changes = append(changes, ChangedSetting{key, c.Log.Level + ", now " + fresh.Log.Level})
		case "trusted_proxies":
			reloaded.TrustedProxies = fresh.TrustedProxies
			changes = append(changes, ChangedSetting{key, listed(c.TrustedProxies) + ", now " + listed(fresh.TrustedProxies)})
		case connectionsKey:
			reloaded.Notify.Connections = fresh.Notify.Connections
			changes = append(changes, ChangedSetting{key, connectionChanges(c.Notify.Connections, fresh.Notify.Connections)})
		default:
			restart = append(restart, key)
		}
	}
	return &reloaded, changes, restart
}

const connectionsKey = "notify.connections"

func listed(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(values, " ")
}

// connectionChanges says which connections came, went and changed, and the keys in which.
func connectionChanges(before, after []Connection) string {
	named := func(list []Connection, name string) int {
		return slices.IndexFunc(list, func(c Connection) bool { return c.Name == name })
	}
	var parts []string
	for i := range after {
		c := &after[i]
		if at := named(before, c.Name); at < 0 {
			parts = append(parts, c.Name+" added")
		} else if keys := connectionKeys(&before[at], c); len(keys) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s changed", c.Name, strings.Join(keys, ", ")))
		}
	}
	for i := range before {
		if named(after, before[i].Name) < 0 {
			parts = append(parts, before[i].Name+" removed")
		}
	}
	if parts == nil {
		return "their order changed"
	}
	return strings.Join(parts, "; ")
}
