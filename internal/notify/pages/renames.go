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
	c.Handle("POST "+renamePages+"/{id}/confirm", console.Needs(identity.SysAdmin), p.decideRename(p.Hooks.ConfirmRename, "Rules, hooks and permissions go by the new key."))
	c.Handle("GET "+renamePages+"/{id}/dismiss", console.Needs(identity.SysAdmin), p.askRename("dismiss"))
	c.Handle("POST "+renamePages+"/{id}/dismiss", console.Needs(identity.SysAdmin), p.decideRename(p.Hooks.DismissRename, "The rename is dismissed; nothing moved."))
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
			return nil, fault.New(fault.Invalid, "The list has no such place; go to its start.")
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
	if len(found) > pageSize {
		found = found[:pageSize]
		view.Pager.Next = renamePages + query("after", strconv.FormatInt(found[pageSize-1].ID, 10))
	}
	if after > 0 {
		view.Pager.First = renamePages
	}
	for _, o := range found {
		view.Rows = append(view.Rows, renameRow{o, whyOffered(o.Reason)})
	}
	return console.Page{Template: "renames", Title: "Renames to decide on", Section: "Notifications", Data: view}, nil
}

func whyOffered(reason notify.RenameReason) string {
	switch reason {
	case notify.OutOfScope:
		return "The new key is outside the scope of the hook that said it."
	case notify.Occupied:
		return "There are rules, hooks or permissions at the new key already."
	}
	return "Permissions never move on a webhook's word. Rules and hooks have moved."
}

// askRename asks before a rename is decided on.
func (p *Pages) askRename(verb string) console.Handler {
	return func(r *http.Request) (console.Response, error) {
		o, err := p.renameOfPath(r)
		if err != nil {
			return nil, err
		}
		if verb == "dismiss" {
			return console.Confirm{
				Title: "Dismiss the rename of " + o.From.String() + "?", Verb: "Dismiss", Back: renamePages,
				Text: "Nothing moves. Webhooks about " + o.To.String() + " by a hook whose scope does not hold it are refused again.",
			}, nil
		}
		return console.Confirm{
			Title: "Is " + o.From.String() + " now " + o.To.String() + "?", Verb: "Confirm the rename", Back: renamePages,
			Text: "Rules, the scopes of hooks and permissions at the old key go by the new one. Look at the platform first: whoever knows the hook's secret can say this.",
		}, nil
	}
}

func (p *Pages) renameOfPath(r *http.Request) (*notify.Rename, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, fault.New(fault.NotFound, "There is no such rename.")
	}
	found, err := p.Hooks.OfferedRenames(r.Context(), id-1, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].ID != id {
		return nil, fault.New(fault.NotFound, "This rename was decided on already.")
	}
	return &found[0], nil
}

func (p *Pages) decideRename(how func(context.Context, int64) error, done string) console.Handler {
	return func(r *http.Request) (console.Response, error) {
		o, err := p.renameOfPath(r)
		if err != nil {
			return nil, err
		}
		if err := how(r.Context(), o.ID); err != nil {
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
	card := console.Card{Title: "Renames", Link: renamePages, Text: "Webhooks said that keys changed. Nothing moves by that until you decide."}
	for _, o := range found {
		card.Attention = append(card.Attention, console.Notice{
			Text: "A webhook of " + o.Connection + " says that " + o.From.String() + " is now " + o.To.String() + ". " + whyOffered(o.Reason),
			Link: renamePages,
		})
	}
	return []console.Card{card}, nil
}
