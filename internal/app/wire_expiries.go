package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"outrigger/internal/console"
)

// expiryDays are how many days before a credential ends the overview says so. At each of
// them the alerts channel is told again.
var expiryDays = [...]int{1, 7, 30}

// overviewExpiries names the certificates and credentials that end soon, or have ended.
func (a *App) overviewExpiries(context.Context) (console.Card, error) {
	card := console.Card{Title: "Credentials", Link: "/system/nodes", Text: "Certificates and credentials that end soon, or have ended."}
	add := func(name string, at time.Time) {
		n, soon := expiryNotice(name, at, a.clock())
		known := func(o console.Notice) bool { return o.Key == n.Key } // of mail and HTTP it may be the same file
		if soon && !slices.ContainsFunc(card.Attention, known) {
			card.Attention = append(card.Attention, n)
		}
	}
	for _, c := range a.certificates {
		add("The certificate "+c.files.Cert, c.ends())
	}
	for _, e := range a.Config().Expiries() {
		add("The credential "+e.Key, e.At)
	}
	return card, nil
}

// expiryNotice returns a notice that name ends at a time, and whether that is soon enough to
// be said.
func expiryNotice(name string, at, now time.Time) (n console.Notice, soon bool) {
	day := at.UTC().Format("2006-01-02")
	n = console.Notice{
		Kind: "expiry", Tone: console.Bad,
		Remedy: console.Remedy{Label: "How to replace it", Path: "/docs/monitoring#credentials-that-end"},
	}
	if !now.Before(at) {
		n.Key, n.Since = "expiry "+name+" over", at
		n.Text = fmt.Sprintf("%s ended on %s. Replace it.", name, day)
		return n, true
	}
	for _, days := range expiryDays {
		from := at.AddDate(0, 0, -days)
		if now.Before(from) {
			continue
		}
		n.Key, n.Since = fmt.Sprintf("expiry %s %d", name, days), from
		left := "a day"
		if days > 1 {
			n.Tone, left = console.Warn, fmt.Sprintf("%d days", days)
		}
		n.Text = fmt.Sprintf("%s ends on %s, in less than %s. Replace it.", name, day, left)
		return n, true
	}
	return n, false
}
