package pages

import (
	"context"
	"strconv"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

// refusedRow is what a hook refused for one reason in the last 24 h.
type refusedRow struct {
	notify.RefusedWebhooks
	What string // how many, and why: "12 with a wrong signature"
	Help string // what to do about it
	At   string // the hook, in words
	Path string // of the connection's page
}

// refused lists what was refused at hooks that who asks administers: those of one
// connection, or of all ("").
func (p *Pages) refused(ctx context.Context, connection string) ([]refusedRow, error) {
	all, err := p.Hooks.Refused(ctx)
	if err != nil {
		return nil, err
	}
	var rows []refusedRow
	for _, r := range all {
		if connection != "" && r.Connection != connection {
			continue
		}
		row := refusedRow{
			RefusedWebhooks: r, What: strconv.Itoa(r.Count) + " " + refusalWords[r.Reason], Help: r.Reason.Advice(),
			Path: connectionPage(r.Connection) + "#refused",
		}
		switch {
		case r.Hook != "":
			row.At = "hook " + r.Hook
		case r.Reason == notify.RefusedHook:
			row.At = "unknown hooks"
		default:
			row.At = "the connection's own hook"
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// refusalWords say why webhooks were refused, after their number.
var refusalWords = map[notify.RefusalReason]string{
	notify.RefusedSignature: "with a missing or wrong signature",
	notify.RefusedNoSecret:  "because the hook has no secret",
	notify.RefusedScope:     "outside the scope of the hook",
	notify.RefusedBody:      "with a body that cannot be read",
	notify.RefusedHook:      "for a hook that does not exist",
}

// maxRefusedNotices is how many of them the overview names.
const maxRefusedNotices = 5

// refusedNotices are the refused webhooks that need attention.
func (p *Pages) refusedNotices(ctx context.Context) ([]console.Notice, error) {
	rows, err := p.refused(ctx, "")
	if err != nil {
		return nil, err
	}
	var list []console.Notice
	more, since := 0, time.Time{}
	for i := range rows {
		r := &rows[i]
		switch {
		case !r.NeedsAttention():
		case len(list) == maxRefusedNotices:
			if more++; since.IsZero() || r.FirstAt.Before(since) {
				since = r.FirstAt
			}
		default:
			list = append(list, console.Notice{Kind: "refused_webhooks", Key: "refused " + r.Connection + " " + r.At + " " + string(r.Reason),
				Text: r.notice(), Link: r.Path, Tone: console.Warn, Since: r.FirstAt,
				Remedy: console.Remedy{Label: "Open the connection", Of: r.Connection, Path: r.Path}})
		}
	}
	if more > 0 {
		list = append(list, console.Notice{Kind: "refused_webhooks", Key: "refused",
			Text: strconv.Itoa(more) + " more hooks or reasons: see the pages of the connections.", Link: connectionPages, Since: since,
			Remedy: console.Remedy{Label: "Show the connections", Path: connectionPages}})
	}
	return list, nil
}

func (r *refusedRow) notice() string {
	text := "The connection “" + r.Connection + "” refused webhooks in the last 24 h (" + r.At + "): " + r.What +
		", last at " + r.LastAt.UTC().Format("2006-01-02 15:04 UTC") + " from " + r.LastBy + ". "
	if r.Alone {
		text += "No events were received this way. "
	}
	return text + r.Help
}
