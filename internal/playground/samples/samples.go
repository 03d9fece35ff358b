// Package samples writes webhook bodies as the self-hosted platform sends
// them, about an invented project: for the demo, for benchmarks, for tests.
package samples

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"outrigger/internal/playground/bodies"
)

// BaseURL is where the platform of the samples is said to be.
const BaseURL = "https://git.example.com"

//go:embed bodies
var files embed.FS

var read = sync.OnceValue(func() *bodies.Bodies { return bodies.Read(files) })

// Sample is one kind of webhook request.
type Sample struct{ bodies.Line }

// Render writes a body. The number seq decides on names, ids and hashes: the
// same seq gives the same pull request and branch in every sample, so that
// samples rendered one after the other tell a story. An even seq gives times
// as milliseconds, an odd one as ISO 8601, as the platform does since its
// version 10.
func (s Sample) Render(seq int64, now time.Time) []byte {
	return read().Write(s.Line, story{bodies.Story{World: &read().World, Seq: seq, Now: now}}, map[string]any{
		"eventKey": s.EventKey, "date": now.Format("2006-01-02T15:04:05-0700"),
	})
}

// Samples lists them in the order in which a day of a project brings them.
func Samples() (all []Sample) {
	for _, l := range read().Day {
		all = append(all, Sample{l})
	}
	return all
}

// People are all of those in the story.
func People() []bodies.Person { return read().People }

// story is what the templates say of one seq.
type story struct{ bodies.Story }

// NoHash stands for a commit that does not exist.
func (story) NoHash() string { return "0000000000000000000000000000000000000000" }

// At is a time ago in one of the platform's two styles.
func (s story) At(ago string) string {
	if s.Seq%2 != 0 {
		return s.Ago(ago).UTC().Format(`"2006-01-02T15:04:05.000Z"`)
	}
	return fmt.Sprint(s.Ago(ago).UnixMilli())
}

func (s story) Author() *bodies.Person   { return s.Person(0) }
func (s story) Reviewer() *bodies.Person { return s.Person(1) }
func (s story) Other() *bodies.Person    { return s.Person(2) }

func (s story) Slug() string                    { return bodies.Pick(s.Repositories, s.Seq) }
func (s story) Project() repository             { return repository{Slug: s.Slug()} }
func (s story) In(slug string) repository       { return repository{Slug: slug} }
func (s story) Personal(slug string) repository { return repository{Slug: slug, Owner: s.Author()} }

// repository is one of the project ATL, or of its owner's own.
type repository struct {
	Slug  string
	Owner *bodies.Person
}

func (r repository) Key() string {
	if r.Owner != nil {
		return "~" + strings.ToUpper(r.Owner.Name)
	}
	return "ATL"
}

func (r repository) ProjectID() int {
	if r.Owner != nil {
		return r.Owner.ID + 1000
	}
	return 11
}

func (r repository) Page() string {
	if r.Owner != nil {
		return "/users/" + r.Owner.Name
	}
	return "/projects/ATL"
}

func (r repository) ID() int           { return len(r.Slug) + r.ProjectID()*10 }
func (r repository) Clone() string     { return strings.ToLower(r.Key()) + "/" + r.Slug }
func (r repository) Hierarchy() string { return bodies.Sum("hierarchy/" + r.Slug)[:20] }
