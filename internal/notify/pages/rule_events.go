package pages

import (
	"slices"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

// allOf is the value of a box that stands for a category of event types; the
// category is behind it.
const allOf = "all of "

// eventGroups are the event types of editions by category, each with a box for
// all of it.
func eventGroups(editions ...notify.Edition) []console.Group {
	var groups []console.Group
	for _, t := range notify.EventTypes() {
		if !t.ComesFrom(editions...) {
			continue
		}
		if all := allOf + t.Category(); len(groups) == 0 || groups[len(groups)-1].All != all {
			groups = append(groups, console.Group{Label: categoryLabel(t, editions), All: all})
		}
		g := &groups[len(groups)-1]
		g.Options = append(g.Options, console.Option{Value: t.String(), Label: t.Name()})
	}
	return groups
}

// categoryLabel is the category of an event type, among those of editions: among
// the cloud's alone, nothing needs to be marked as the cloud's.
func categoryLabel(t notify.EventType, editions []notify.Edition) string {
	if slices.Equal(editions, []notify.Edition{notify.Cloud}) {
		return strings.TrimSuffix(t.Category(), " (cloud)")
	}
	return t.Category()
}

// tickAll ticks the event types of the categories that are ticked as a whole.
func tickAll(form *console.Form, field string, groups []console.Group) {
	var ticked []string
	for _, g := range groups {
		all := false
		for _, value := range form.All(field) {
			all = all || value == g.All
		}
		for _, o := range g.Options {
			if all {
				ticked = append(ticked, o.Value)
			}
		}
	}
	for _, value := range form.All(field) {
		if !strings.HasPrefix(value, allOf) {
			ticked = append(ticked, value)
		}
	}
	form.Set(field, ticked...)
}

// typesOf reads the event types that are ticked, each once; unknown keys are of
// another release, and left out.
func typesOf(form *console.Form, field string) []notify.EventType {
	var types []notify.EventType
	for _, key := range form.All(field) {
		if t, ok := notify.ParseEventType(key); ok {
			types = append(types, t)
		}
	}
	return notify.NewTypeSet(types...).Types()
}
