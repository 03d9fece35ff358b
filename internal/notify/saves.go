package notify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"outrigger/internal/fault"
)

// MaxNamedSaves is how many saves a conflict names one by one: who missed more
// reads the thing again anyway.
const MaxNamedSaves = 5

// Save is who saved a thing, when, and the members that were others then.
type Save struct {
	By      string
	At      time.Time
	Changed []string
}

// NewSave is a save of which the audit trail has the members that differ, by their
// values before and after.
func NewSave(by string, at time.Time, before, after map[string]string) Save {
	changed := maps.Clone(before)
	maps.Copy(changed, after)
	if _, ok := changed["channel"]; ok { // two webhook URLs may have one mask
		delete(changed, "channel")
		changed["webhookUrl"] = ""
	}
	return Save{by, at, slices.Sorted(maps.Keys(changed))}
}

// tellSaves says who saved a thing and what they changed, the oldest first, after so
// many earlier saves that are not told.
func tellSaves(saves []Save, earlier int64) string {
	if more := len(saves) - MaxNamedSaves; more > 0 {
		saves, earlier = saves[more:], earlier+int64(more)
	}
	var told []string
	if earlier > 0 {
		told = append(told, fmt.Sprintf("%d earlier saves", earlier))
	}
	for _, s := range saves {
		changed := s.Changed
		if len(changed) == 0 {
			changed = []string{"nothing"}
		}
		told = append(told, fmt.Sprintf("%s changed %s at %s", s.By, strings.Join(changed, ", "), s.At.UTC().Format(time.RFC3339)))
	}
	return strings.Join(told, "; ")
}

// Present is the version of a thing that there is now, and who saved it last.
type Present struct {
	What    string // report or connection
	Version int64
	By      string
	At      time.Time
}

// SavesOf says who saved a thing since it was at a version, and what they changed.
// saves are the last ones of these, at most MaxNamedSaves, as far as they are known.
func SavesOf(saves []Save, since int64, now Present) string {
	if len(saves) == 0 {
		return fmt.Sprintf("%s saved version %d at %s", now.By, now.Version, now.At.UTC().Format(time.RFC3339))
	}
	return tellSaves(saves, now.Version-since-int64(len(saves)))
}

// Stale is the cause of the conflict of a save that was made from an older version.
type Stale struct {
	Saves []Save // as for SavesOf
	Now   Present
}

func (*Stale) Error() string { return "stale" }

// StaleVersion is the conflict of a save that was made from an older version of a
// thing, caused by a Stale; saves are as for SavesOf.
func StaleVersion(saves []Save, since int64, now Present) error {
	return fault.Wrap(&Stale{saves, now}, fault.Conflict, "The %s was changed in the meantime and is at version %d: %s. Reload it and "+
		"repeat your change.",
		now.What, now.Version, SavesOf(saves, since, now))
}
