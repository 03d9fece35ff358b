package pages

import (
	"encoding/json"
	"errors"
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
	data, ok := page.Data.(ruleForm)
	if !errors.As(err, &stale) || !ok {
		return page, err
	}
	view := &staleView{Now: stale.Now, Path: rulesPath + "/" + idText(stale.Now.ID)}
	for _, c := range stale.Changes {
		told := c.Member != "webhookUrl" && c.Member != "quietHours"
		view.Changes = append(view.Changes, memberChange{notify.MemberLabel(c.Member), inWords(c.Member, c.Before), inWords(c.Member, c.After),
			told})
	}
	form.Set("version", strconv.FormatInt(stale.Now.Version, 10))
	data.Stale = view
	page.Data = data
	return page, fault.New(fault.Conflict, "%s saved this rule while you edited it. Your input is kept and not saved yet.",
		stale.Now.UpdatedBy)
}

// inWords writes the value of a member as people read it.
func inWords(member, value string) string {
	switch value {
	case "", "null":
		return "nothing"
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	var refs []notify.RepositoryRef
	if member == "repositories" && json.Unmarshal([]byte(value), &refs) == nil {
		var keys []string
		for _, ref := range refs {
			keys = append(keys, ref.ProjectKey+"/"+ref.RepositoryKey)
		}
		return strings.Join(keys, ", ")
	}
	var names []string
	if json.Unmarshal([]byte(value), &names) != nil {
		return value
	}
	if member == "eventTypes" || member == "expectedEvents" {
		for i, key := range names {
			if t, ok := notify.ParseEventType(key); ok {
				names[i] = t.Name()
			}
		}
	}
	return strings.Join(names, ", ")
}
