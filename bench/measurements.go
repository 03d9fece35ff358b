package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

type measurement struct {
	name string // one with a dash is also meant by what is before it
	do   func(*bench, context.Context)
}

var measurements = []measurement{
	{"sqlite", (*bench).sqlite},
	{"postgres", (*bench).postgres},
	{"slow", (*bench).slow},
	{"growth-events", (*bench).growthEvents},
	{"growth-rules", (*bench).growthRules},
	{"growth-waiting", (*bench).growthWaiting},
	{"mail", (*bench).mail},
	{"status", (*bench).status},
	{"export", (*bench).export},
	{"migration", (*bench).migration},
	{"idle", (*bench).idle},
}

// choose returns the measurements that names mean, in their order.
func choose(names []string) (chosen []measurement, err error) {
	var known []string
	for _, m := range measurements {
		group, _, _ := strings.Cut(m.name, "-")
		known = append(known, group, m.name)
		if slices.Contains(names, group) || slices.Contains(names, m.name) {
			chosen = append(chosen, m)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is nothing called %q to measure; there are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}
