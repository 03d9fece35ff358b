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
