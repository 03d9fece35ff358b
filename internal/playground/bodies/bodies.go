// Package bodies writes webhook bodies from templates of JSON. In an object the last
// of several members of a name counts, so that a body can say in what it differs from
// a part that others have too.
package bodies

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
	"time"
)

// Bodies are the templates of a platform, and the world that they are about.
type Bodies struct {
	World
	Day       []Line // in the order in which a day of a project brings them
	templates *template.Template
}

// World has people, and what branches and pull requests are about.
type World struct {
	People       []Person
	Repositories []string
	Topics       []struct{ Branch, Title, Description string }
	Checklist    string // ends every description, as teams' templates do
}

// Person is one of those in a world. The ID is the platform's.
type Person struct {
	ID                int
	Name, DisplayName string
}

// Line is a webhook request.
type Line struct {
	Name     string // such as "pull-request-opened"
	EventKey string // for the header X-Event-Key

	template string
}

// Read reads bodies/*.tmpl, bodies/world.json, and bodies/day: a line for each request
// with its name, its key and, where that is not its name, the template.
func Read(files fs.FS) *Bodies {
	b := &Bodies{templates: template.New("")}
	b.templates.Funcs(template.FuncMap{
		"args":    func(all ...any) []any { return all },
		"include": func(name string, data any) string { return b.execute(name, data).String() },
		"json":    func(v any) string { return strings.TrimSpace(encode(v).String()) },
	})
	template.Must(b.templates.ParseFS(files, "bodies/*.tmpl"))
	day, err := fs.ReadFile(files, "bodies/day")
	world, missing := fs.ReadFile(files, "bodies/world.json")
	if err := errors.Join(err, missing, json.Unmarshal(world, &b.World)); err != nil {
		panic(err) // they are embedded
	}
	for line := range strings.Lines(string(day)) {
		words := append(strings.Fields(line), "")
		b.Day = append(b.Day, Line{words[0], words[1], cmp.Or(words[2], words[0])})
	}
	return b
}

// Write writes a body about a story, with further members.
func (b *Bodies) Write(l Line, story any, more map[string]any) []byte {
	dec := json.NewDecoder(b.execute(l.template, story))
	dec.UseNumber() // ids are large
	var body map[string]any
	if err := dec.Decode(&body); err != nil {
		panic(fmt.Sprintf("sample %s: %v", l.Name, err)) // tests write every one
	}
	for name, value := range more {
		body[name] = value
	}
	return bytes.TrimSuffix(encode(body).Bytes(), []byte("\n"))
}

func (b *Bodies) execute(name string, data any) *bytes.Buffer {
	var text bytes.Buffer
	if err := b.templates.ExecuteTemplate(&text, name, data); err != nil {
		panic(err) // tests write every one
	}
	return &text
}

func encode(v any) *bytes.Buffer {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // what was decoded encodes
	}
	return &text
}

// Story is who and what the bodies of one Seq are about: they have the same pull
// request and branch, so that one after the other tells a story.
type Story struct {
	*World
	Seq int64
	Now time.Time
}

// Person is the n-th; the first, the Author, works on the story's branch, the next two
// look at it.
func (s Story) Person(n int64) *Person {
	p := Pick(s.People, s.Seq+n)
	return &p
}

func (s Story) Branch() string {
	return fmt.Sprintf("feature/ATL-%d-%s", s.Number(), Pick(s.Topics, s.Seq).Branch)
}
func (s Story) Title() string {
	return fmt.Sprintf("ATL-%d: %s", s.Number(), Pick(s.Topics, s.Seq).Title)
}

// Description is the pull request's.
func (s Story) Description() string { return Pick(s.Topics, s.Seq).Description + s.Checklist }

// Number is the pull request's.
func (s Story) Number() int64 { return int64(uint64(s.Seq)%9_000_000) + 1 }

// Hash is the commit that the story calls by a name.
func (s Story) Hash(name string) string { return Sum(fmt.Sprint(s.Seq) + "/" + name) }

// Ago is a time before now.
func (s Story) Ago(d string) time.Time {
	before, err := time.ParseDuration(d)
	if err != nil {
		panic(err) // tests write every body
	}
	return s.Now.Add(-before)
}

// Sum is a hash as Git's, which are not secrets either.
func Sum(text string) string {
	b := sha1.Sum([]byte(text))
	return hex.EncodeToString(b[:])
}

// Pick is the n-th of a list that begins again when it ends.
func Pick[T any](from []T, n int64) T { return from[uint64(n)%uint64(len(from))] }
