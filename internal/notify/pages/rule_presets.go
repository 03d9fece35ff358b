package pages

import (
	"slices"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

// preset is a choice of events that many rules have.
type preset struct {
	Value, Label string
	Types        string // their keys, with spaces between them
	Chosen       bool
}

var presets = []struct {
	value, label string
	types        []notify.EventType // nil: every one
}{
	{"reviews", "Reviews", []notify.EventType{
		notify.PullRequestOpened, notify.PullRequestReviewersUpdated, notify.PullRequestApproved, notify.PullRequestUnapproved,
		notify.PullRequestChangesRequested, notify.PullRequestChangesRequestRemoved, notify.PullRequestCommentAdded,
		notify.PullRequestMerged, notify.PullRequestDeclined,
	}},
	{"releases", "Releases", []notify.EventType{notify.TagCreated, notify.TagUpdated, notify.TagDeleted}},
	{"builds", "Builds", []notify.EventType{notify.BuildStatusSet, notify.PipelineSucceeded, notify.PipelineFailed, notify.PipelineStopped}},
	{"everything", "Everything", nil},
}

// Presets are those of the events that the form offers.
func (f ruleForm) Presets() []preset {
	ticked := slices.Sorted(slices.Values(f.All("eventTypes")))
	var list []preset
	for _, p := range presets {
		keys := presetKeys(p.value, f.Events)
		list = append(list, preset{p.value, p.label, strings.Join(keys, " "), slices.Equal(slices.Sorted(slices.Values(keys)), ticked)})
	}
	return list
}

// presetKeys are the keys of a preset's event types, as far as they are offered; nil
// where there is no such preset.
func presetKeys(value string, offered []console.Group) (keys []string) {
	for _, p := range presets {
		if p.value != value {
			continue
		}
		for _, g := range offered {
			for _, o := range g.Options {
				if t, ok := notify.ParseEventType(o.Value); ok && (p.types == nil || slices.Contains(p.types, t)) {
					keys = append(keys, o.Value)
				}
			}
		}
	}
	return keys
}
