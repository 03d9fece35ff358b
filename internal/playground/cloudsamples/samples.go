// Package cloudsamples writes webhook bodies as the cloud edition of the
// code-hosting platform sends them, one or more of every event key: for the
// demo and for tests. Where no real body of a key is known, it is written from
// the vendor's description.
package cloudsamples

import (
	"embed"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"time"

	"outrigger/internal/playground/bodies"
)

//go:embed bodies
var files embed.FS

var read = sync.OnceValue(func() *bodies.Bodies { return bodies.Read(files) })

// Sample is one kind of webhook request.
type Sample struct{ bodies.Line }

// Place is the repository that a body is about.
type Place struct{ Site, Workspace, Repository string }

// Engine is a place of the demo's world.
var Engine = Place{"https://bitbucket.org", "atlas", "engine"}

// Render writes a body. The number seq decides on people, ids and hashes: the
// same seq gives the same pull request in every sample, so that samples rendered
// one after the other tell a story.
func (s Sample) Render(at Place, seq int64, now time.Time) []byte {
	at = Place{escape(at.Site), escape(at.Workspace), escape(at.Repository)}
	return read().Write(s.Line, story{bodies.Story{World: &read().World, Seq: seq, Now: now}, at}, nil)
}

// escape has a text stand between quotes.
func escape(text string) string {
	quoted, _ := json.Marshal(text) // a string
	return string(quoted[1 : len(quoted)-1])
}

// Samples lists them in the order in which a day of a project brings them.
func Samples() (all []Sample) {
	for _, l := range read().Day {
		all = append(all, Sample{l})
	}
	return all
}

// story is what the templates say of one seq at a place.
type story struct {
	bodies.Story
	Place
}

func (s story) In(workspace, repository string) story {
	s.Workspace, s.Repository = workspace, repository
	return s
}

func (s story) Path() string { return s.Workspace + "/" + s.Repository }
func (s story) Page() string { return s.Site + "/" + s.Path() }

// At is a time ago as the platform writes it, and Second one of a commit.
func (s story) At(ago string) string {
	return s.Ago(ago).UTC().Format("2006-01-02T15:04:05.000000-07:00")
}
func (s story) Second(ago string) string {
	return s.Ago(ago).UTC().Format("2006-01-02T15:04:05-07:00")
}

func (s story) Pipeline() int64 { return 3_343_800 + s.Number() }
func (s story) Comment() int64  { return 3115 + s.Number() }

// UUID is that of what has a name, as the platform writes it: in braces.
func (story) UUID(kind, name string) string {
	s := bodies.Sum(kind + "/" + name)
	return "{" + s[:8] + "-" + s[8:12] + "-4" + s[13:16] + "-8" + s[17:20] + "-" + s[20:32] + "}"
}

func (story) Escape(id string) string { return url.PathEscape(id) }

// person is an account.
type person struct{ Name, UUID, Site string }

func (p person) Bare() string    { return strings.Trim(p.UUID, "{}") }
func (p person) Escaped() string { return url.PathEscape(p.UUID) }

func (s story) person(n int64) person {
	name := s.Person(n).DisplayName
	return person{name, s.UUID("person", name), s.Site}
}

func (s story) Author() person   { return s.person(0) }
func (s story) Reviewer() person { return s.person(1) }
func (s story) Other() person    { return s.person(2) }
