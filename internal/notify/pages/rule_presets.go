package pages

import (
	"slices"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

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
