package notify

import (
	"fmt"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// StaleSave says who saved the rule since it was read, and what they changed.
// since are its versions from the one that was read up to, and without, the
// present one; fewer where they are not kept any more.
func StaleSave(since []Rule, now *RuleInfo) error {
	return fault.Wrap(&StaleRule{now, changesSince(since, &now.Rule)}, fault.Conflict, "The rule was changed in the meantime and is at "+
		"version %d: %s. Reload it and repeat your change.",
		now.Version, SavesSince(since, now))
}

// SavesSince is who saved the rule since it was read, and what they changed; since
// is as for StaleSave.
func SavesSince(since []Rule, now *RuleInfo) string {
	saves := make([]Save, len(since))
	for i := range since {
		next := &now.Rule
		if i+1 < len(since) {
			next = &since[i+1]
		}
		saves[i] = Save{next.UpdatedBy, next.UpdatedAt, since[i].changedMembers(next)}
	}
	if len(saves) == 0 {
		return fmt.Sprintf("%s saved it at %s", now.UpdatedBy, now.UpdatedAt.UTC().Format(time.RFC3339))
	}
	return tellSaves(saves, 0)
}

// StaleRule is the cause of the conflict of a save that was made from an older
// version.
type StaleRule struct {
	Now     *RuleInfo
	Changes []RuleChange // since the version that it was made from; none where that is not kept any more
}

// RuleChange is a member of a rule that changed: its values as the REST API has
// them, in JSON but for texts, and of a webhook URL none.
type RuleChange struct{ Member, Before, After string }

func (e *StaleRule) Error() string { return "stale" }

func changesSince(since []Rule, now *Rule) (list []RuleChange) {
	if len(since) == 0 {
		return nil
	}
	before, after := since[0].members(), now.members()
	for _, name := range since[0].changedMembers(now) {
		change := RuleChange{name, before[name], after[name]}
		if name == "webhookUrl" {
			change.Before, change.After = "", ""
		}
		list = append(list, change)
	}
	return list
}

// OtherMask refuses a masked webhook URL that is not the rule's own.
const OtherMask = "This is the mask of another webhook URL; give the whole URL, or none to keep the stored one."

// CheckSave judges a save of a rule that exists, and fills in the keys
// that the caller left out.
func CheckSave(r *Rule, old *RuleInfo, webhookURL string) error {
	var f fault.Fields
	checkFixed(&f, "rule", "connection", &r.Connection, old.Connection)
	checkFixed(&f, "rule", "projectKey", &r.ProjectKey, old.ProjectKey)
	checkFixed(&f, "rule", "repositoryKey", &r.RepositoryKey, old.RepositoryKey)
	if secret.IsMask(webhookURL) && webhookURL != old.Channel.Mask {
		f.Add("webhookUrl", OtherMask)
	}
	if err := f.Err(); err != nil {
		return err
	}
	r.validateNarrowing(&f) // which the level decides, and that may follow from keys that were left out
	return f.Err()
}

// checkFixed refuses another value of what cannot be changed in something that is
// saved, and fills it in where it was left out.
func checkFixed(f *fault.Fields, what, field string, given *string, was string) {
	if *given != "" && !strings.EqualFold(*given, was) {
		f.Add(field, "This cannot be changed after the %s was saved; it is %q. Delete the %[1]s and create another.", what, was)
	}
	*given = was
}
