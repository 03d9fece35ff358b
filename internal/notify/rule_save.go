package notify

import (
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// staleSave says who saved meanwhile.
func staleSave(now *RuleInfo) error {
	return fault.New(fault.Conflict, "The rule was saved meanwhile: it is at version %d, by %s at %s. Read it again and repeat your change.",
		now.Version, now.UpdatedBy, now.UpdatedAt.Format(time.RFC3339))
}

// otherMask refuses a masked webhook URL that is not the rule's own.
const otherMask = "This is the mask of another webhook URL; give the whole URL, or none to keep the stored one."

// CheckSave judges a save of a rule that exists, and fills in the keys
// that the caller left out.
func CheckSave(r *Rule, old *RuleInfo, webhookURL string) error {
	if r.Version != 0 && r.Version != old.Version {
		return staleSave(old)
	}
	var f fault.Fields
	fixed := func(field string, given *string, was string) {
		if *given != "" && !strings.EqualFold(*given, was) {
			f.Add(field, "It is fixed once the rule is saved: %q. Delete the rule and create another.", was)
		}
		*given = was
	}
	fixed("connection", &r.Connection, old.Connection)
	fixed("projectKey", &r.ProjectKey, old.ProjectKey)
	fixed("repositoryKey", &r.RepositoryKey, old.RepositoryKey)
	if secret.IsMask(webhookURL) && webhookURL != old.Channel.Mask {
		f.Add("webhookUrl", otherMask)
	}
	if err := f.Err(); err != nil {
		return err
	}
	return r.Validate() // the level may follow from keys that were left out
}
