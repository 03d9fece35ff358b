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
		if !slices.Contains(form.All(field), g.All) {
			continue
		}
		for _, o := range g.Options {
			ticked = append(ticked, o.Value)
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

// presetButton is the button of a preset on the form.
type presetButton struct {
	Value, Label string
	Types        string // their keys, with spaces between them
	Chosen       bool
}

// preset is a choice of events that many rules have.
type preset struct {
	value, label string
	types        []notify.EventType // nil: every one
}

var presets = []preset{
	{"reviews", "Reviews", []notify.EventType{
		notify.PullRequestOpened, notify.PullRequestReviewersUpdated, notify.PullRequestApproved, notify.PullRequestUnapproved,
		notify.PullRequestChangesRequested, notify.PullRequestChangesRequestRemoved, notify.PullRequestCommentAdded,
		notify.PullRequestMerged, notify.PullRequestDeclined,
	}},
	{"releases", "Releases", []notify.EventType{notify.TagCreated, notify.TagUpdated, notify.TagDeleted}},
	{"builds", "Builds", []notify.EventType{notify.BuildStatusSet, notify.PipelineSucceeded, notify.PipelineFailed, notify.PipelineStopped}},
	{"everything", "Everything", nil},
}

// Presets returns the buttons for the events that the form offers.
func (f ruleForm) Presets() []presetButton {
	ticked := slices.Sorted(slices.Values(f.All("eventTypes")))
	var list []presetButton
	for _, p := range presets {
		keys := p.keys(f.Events)
		list = append(list, presetButton{
			Value: p.value, Label: p.label, Types: strings.Join(keys, " "),
			Chosen: slices.Equal(slices.Sorted(slices.Values(keys)), ticked),
		})
	}
	return list
}

// presetKeys returns the keys of a preset's event types, as far as they are offered; none
// if there is no such preset.
func presetKeys(value string, offered []console.Group) []string {
	for _, p := range presets {
		if p.value == value {
			return p.keys(offered)
		}
	}
	return nil
}

func (p preset) keys(offered []console.Group) (keys []string) {
	for _, g := range offered {
		for _, o := range g.Options {
			if t, ok := notify.ParseEventType(o.Value); ok && (p.types == nil || slices.Contains(p.types, t)) {
				keys = append(keys, o.Value)
			}
		}
	}
	return keys
}
