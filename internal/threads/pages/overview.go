package pages

import (
	"context"
	"slices"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/threads"
)

// proceed is what takes a migration on that stopped.
func proceed(s *threads.MigrationStatus) console.Remedy {
	if slices.Contains(s.Phase.Allowed(), threads.OpContinue) {
		return console.Remedy{Label: labels[threads.OpContinue], Path: movePath + "/" + string(threads.OpContinue), Posts: []console.Hidden{}}
	}
	return console.Remedy{Label: "Show the migration", Path: movePath}
}

// overview is the migration at a glance.
func (p *Admin) overview(ctx context.Context, who *identity.Principal) ([]console.Card, error) {
	if !administers(who) {
		return nil, nil
	}
	s, err := p.Status(ctx)
	if err != nil {
		return nil, err
	}
	card := console.Card{Title: "Threaded comments", Link: movePath, Service: true}
	if s.Phase == threads.PhaseEmpty {
		card.Text, card.Links = "No migration is loaded.", []console.Link{{Label: "Load the files of a migration", Path: movePath}}
		card.Steps, err = p.firstSteps(ctx)
		return []console.Card{card}, err
	}
	card.Text = "The migration: " + statusWord(&s) + "."
	card.Figures = []console.Figure{
		{Label: "processed", Value: strconv.Itoa(s.Progress.Percent) + "%"},
		{Label: "relationships written", Value: console.Count(s.ParentMapsCreated)},
		{Label: "permanent errors", Value: console.Count(s.Errors.Permanent), Path: movePath + "/errors"},
	}
	if s.Errors.Permanent > 0 {
		card.Figures[2].Tone = console.Warn
	}
	switch s.Phase {
	case threads.PhaseFailed:
		card.Attention = []console.Notice{{Kind: "migration_failed", Text: "The migration failed. " + s.Message, Tone: console.Bad,
			Since: s.UpdatedAt, Remedy: proceed(&s)}}
	case threads.PhasePaused:
		card.Attention = []console.Notice{{Kind: "migration_paused", Text: "The migration is paused. " + s.Message, Since: s.UpdatedAt,
			Remedy: proceed(&s)}}
	}
	return []console.Card{card}, nil
}

// firstSteps are the way to the first migration, until one is loaded.
func (p *Admin) firstSteps(ctx context.Context) ([]console.Step, error) {
	m, err := p.Store.Migration(ctx)
	if err != nil || m.Epoch > firstEpoch {
		return nil, err
	}
	list, err := p.Store.Uploads.List(ctx)
	if err != nil {
		return nil, err
	}
	here := func(kind string) bool {
		return slices.ContainsFunc(list, func(u threads.Upload) bool { return u.Kind == kind && u.Complete() })
	}
	return []console.Step{
		{Text: "Download the hierarchy from the self-hosted server, and upload it here", Link: movePath, Copy: exportCommand,
			Done: here(threads.HierarchyFile)},
		{Text: "Download the id mappings, and upload them here", Link: movePath, Copy: mappingsCommand, Done: here(threads.MappingsFile)},
		{Text: "Check the preview, load the data and start processing", Link: movePath},
	}, nil
}

const (
	firstEpoch = 1 // of a migration that nothing was ever done to

	exportCommand   = "outrigger threads export --from https://jira.example.com --user admin --password-file pw"
	mappingsCommand = "outrigger threads id-mappings --from https://jira.example.com --cloud-site-url https://site.example.net --user " +
		"admin --password-file pw"
)
