package pages

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// staleView says what others changed of a rule while it was edited.
type staleView struct {
	Now     *notify.RuleInfo
	Path    string // of the rule as it is now
	Changes []memberChange
}

// memberChange is a member as the form calls it; where Told is false its values
// are not told.
type memberChange struct {
	Label, Before, After string
	Told                 bool
}

// afterStale shows the form with what was typed and what others changed, where
// that is why a save was refused. Saved once more, the form replaces it.
func afterStale(page console.Page, form *console.Form, err error) (console.Page, error) {
	var stale *notify.StaleRule
	data, ok := page.Data.(*ruleForm)
	if !errors.As(err, &stale) || !ok {
		return page, err
	}
	view := &staleView{Now: stale.Now, Path: rulesPath + "/" + idText(stale.Now.ID)}
	for _, c := range stale.Changes {
		told := c.Member != "webhookUrl" && c.Member != "quietHours"
		view.Changes = append(view.Changes, memberChange{notify.MemberLabel(c.Member),
			notify.MemberInWords(c.Member, c.Before), notify.MemberInWords(c.Member, c.After), told})
	}
	form.Set("version", strconv.FormatInt(stale.Now.Version, 10))
	data.Stale = view
	return page, fault.New(fault.Conflict, "%s saved this rule while you edited it. Your input is kept and not saved yet.",
		stale.Now.UpdatedBy)
}

// late says to who saves a form of an older version who saved what meanwhile. Sent
// again, the form replaces that. Other errors stay as they are.
func late(form *console.Form, err error) error {
	var stale *notify.Stale
	if !errors.As(err, &stale) {
		return err
	}
	form.Set("version", strconv.FormatInt(stale.Now.Version, 10))
	var what []string
	for _, s := range stale.Saves {
		for _, member := range s.Changed {
			if label := notify.MemberLabel(member); !slices.Contains(what, label) {
				what = append(what, label)
			}
		}
	}
	changed := ""
	if len(what) > 0 {
		changed = " (" + strings.Join(what, ", ") + ")"
	}
	return fault.New(fault.Conflict, "%s changed this %s%s while you edited it. Your input is kept and not saved yet. Send it again to "+
		"replace that change.",
		stale.Now.By, stale.Now.What, changed)
}
