package pages

import (
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

const renamePages = "/notifications/renames"

// maxNotices is how many renames the overview names; the list has the rest.
const maxNotices = 5

func (p *Pages) registerRenames(c *console.Console) {
	c.Handle("GET "+renamePages, console.Needs(identity.SysAdmin), p.listRenames, "renames")
	c.Handle("GET "+renamePages+"/{id}/confirm", console.Needs(identity.SysAdmin), p.askRename("confirm"))
	c.Handle("POST "+renamePages+"/{id}/confirm", console.Needs(identity.SysAdmin),
		decideRename(p.Hooks.ConfirmRename, "Rules, hooks and permissions now use the new key."))
	c.Handle("GET "+renamePages+"/{id}/dismiss", console.Needs(identity.SysAdmin), p.askRename("dismiss"))
	c.Handle("POST "+renamePages+"/{id}/dismiss", console.Needs(identity.SysAdmin),
		decideRename(p.Hooks.DismissRename, "The rename is dismissed; nothing moved."))
	c.AddOverview(p.renamesOverview)
}

// renameRow is an offered rename with why it waits.
type renameRow struct {
	notify.Rename
	Why string
}

func (p *Pages) listRenames(r *http.Request) (console.Response, error) {
	var after int64
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fault.New(fault.Invalid, "There is no such page of the list. Go to the first page.")
		}
		after = n
	}
	found, err := p.Hooks.OfferedRenames(r.Context(), after, pageSize+1)
	if err != nil {
		return nil, err
	}
	var view struct {
		Rows  []renameRow
		Pager console.Pager
	}
	found, view.Pager = console.Paged(found, pageSize, renamePages, after == 0, func(o notify.Rename) int64 { return o.ID })
	for _, o := range found {
		view.Rows = append(view.Rows, renameRow{o, whyOffered(&o)})
	}
	return console.Page{Template: "renames", Title: "Renames to decide on", Section: "Notifications", Data: view}, nil
}

// whyOffered says why a rename waits, and what is to be done before it can be
// confirmed.
func whyOffered(o *notify.Rename) string {
	why := "Rules and hooks already use the new key. Permissions need your decision: a webhook alone never moves them."
	switch o.Reason {
	case notify.OutOfScope:
		why = "The new key is outside the scope of the hook that reported it."
	case notify.Occupied:
		why = "The new key was already in use."
	}
	if err := o.Blocked(); err != nil {
		why += " " + fault.As(err).Message
	}
	return why
}

// askRename asks before a rename is decided on.
func (p *Pages) askRename(verb string) console.Handler {
	return func(r *http.Request) (console.Response, error) {
		id, err := renameOfPath(r)
		if err != nil {
			return nil, err
		}
		o, err := p.Hooks.OfferedRename(r.Context(), id)
		if err != nil {
			return nil, err
		}
		if verb == "dismiss" {
			text := "Nothing moves. Webhooks about " + o.To.String() + " by a hook whose scope does not hold it are refused again."
			if o.Reason == notify.HasGrants {
				text = "The permissions stay at " + o.From.String() + ". Rules and hooks have moved and stay at " + o.To.String() + "."
			}
			return console.Confirm{Title: "Dismiss the rename of " + o.From.String() + "?", Verb: "Dismiss", Keep: "Decide later",
				Back: renamePages, Text: text}, nil
		}
		if err := o.Blocked(); err != nil {
			return nil, err
		}
		what := "Rules, the scopes of hooks and permissions"
		if o.Reason == notify.HasGrants {
			what = "Permissions"
		}
		return console.Confirm{
			Title: "Is " + o.From.String() + " now " + o.To.String() + "?", Verb: "Confirm the rename", Keep: "Decide later", Back: renamePages,
			Text: what + " with the old key move to the new key, which is not in use yet. Check on the platform first: anyone who knows the " +
				"hook's secret can report a rename.",
		}, nil
	}
}

// renameOfPath is the id of the rename that the page is about. Its target never
// changes, so that what is posted is what was read.
func renameOfPath(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, fault.New(fault.NotFound, "There is no such rename.")
	}
	return id, nil
}

func decideRename(how func(context.Context, int64) error, done string) console.Handler {
	return func(r *http.Request) (console.Response, error) {
		id, err := renameOfPath(r)
		if err != nil {
			return nil, err
		}
		if err := how(r.Context(), id); err != nil {
			return nil, err
		}
		return console.Redirect{To: renamePages, Flash: done}, nil
	}
}

// renamesOverview offers renames to who may decide on them.
func (p *Pages) renamesOverview(ctx context.Context, who *identity.Principal) ([]console.Card, error) {
	if !who.May(identity.SysAdmin, identity.Resource{}) {
		return nil, nil
	}
	found, err := p.Hooks.OfferedRenames(ctx, 0, maxNotices)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	card := console.Card{Title: "Renames", Link: renamePages, Text: "Webhooks reported new keys. Decide whether rules and permissions follow."}
	for _, o := range found {
		card.Attention = append(card.Attention, console.Notice{
			Kind: "renamed_key",
			Text: "A webhook of " + o.Connection + " says that " + o.From.String() + " is now " + o.To.String() + ". " + whyOffered(&o),
			Link: renamePages, Since: o.OfferedAt, Remedy: console.Remedy{Label: "Decide", Path: renamePages},
		})
	}
	return []console.Card{card}, nil
}
