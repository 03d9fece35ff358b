package samples

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// teller knows who and what the story of one seq is about.
type teller struct {
	seq int64
	now time.Time
}

// Person is one of those in the story.
type Person struct{ Name, DisplayName string }

// People are all of them.
func People() []Person { return people[:] }

// The ids of people are the platform's.
var people = [...]Person{
	{"ada", "Ada Lovelace"},
	{"grace", "Grace Hopper"},
	{"alan", "Alan Turing"},
	{"katherine", "Katherine Johnson"},
	{"edsger", "Edsger Dijkstra"},
	{"barbara", "Barbara Liskov"},
}

// topics are what branches and pull requests are about.
var topics = [...]struct{ branch, title, description string }{
	{"punch-card-reader", "Read punch cards with folded corners", "Folded corners used to stop the reader.\n\n" +
		"* the sensor is asked twice\n" +
		"* a card that stays unreadable goes to its own tray\n\n" +
		"Measured on 400 cards: none is lost."},
	{"difference-wheel", "Carry over all seven wheels at once", "The carry went wheel by wheel, which took seven turns. Now a lever lifts " +
		"all of them.\n\nSee the drawing in `doc/carry.svg`."},
	{"night-shift", "Let the night shift pause a long computation", "A pause writes the state of every register to the drum and can be " +
		"resumed by anybody."},
	{"orbit-tables", "Round orbit tables half to even", "The last digit of the printed tables was one too high in 0.4 % of all rows."},
	{"moth-in-relay", "Say which relay is stuck", "The panel shows the row and column of the relay, and how often it was reset today."},
}

var repositories = [...]string{"engine", "card-reader", "orbit-tables"}

func pick[T any](from []T, n int64) T { return from[uint64(n)%uint64(len(from))] }

func (t *teller) person(n int64) *user {
	i := uint64(t.seq+n) % uint64(len(people))
	p := people[i]
	return &user{
		Name:         p.Name,
		EmailAddress: p.Name + "@example.com",
		Active:       true,
		DisplayName:  p.DisplayName,
		ID:           int64(i) + 101,
		Slug:         p.Name,
		Type:         "NORMAL",
		Links:        self("/users/" + p.Name),
	}
}

// author is who works on the story's branch; reviewer and other look at it.
func (t *teller) author() *user   { return t.person(0) }
func (t *teller) reviewer() *user { return t.person(1) }
func (t *teller) other() *user    { return t.person(2) }

func (t *teller) topic() (branch, title, description string) {
	p := pick(topics[:], t.seq)
	return fmt.Sprintf("feature/ATL-%d-%s", t.number(), p.branch), fmt.Sprintf("ATL-%d: %s", t.number(), p.title), p.description + checklist
}

// checklist ends every description, as teams' templates do.
const checklist = `

## Before this is merged

- [x] The tables computed before and after are the same, but for the rows named above.
- [x] The operators' handbook says what is new, and where the old lever went.
- [ ] Somebody who did not write it has turned the crank for at least an hour.
- [ ] The night shift knows.

## How to try it

1. Put the machine in its resting position and oil the third bearing.
2. Load the deck from the drawer labelled "examples"; card 17 has a folded corner.
3. Compare what is printed with "expected.txt": no line may differ.

If anything jams, stop, write down the wheel and the row, and leave the machine as it is: the marks on the wheels tell more than any log.
`

// number is the pull request's.
func (t *teller) number() int64 { return int64(uint64(t.seq)%9_000_000) + 1 }

func (t *teller) repository() *repository {
	return repositoryOf(pick(repositories[:], t.seq), &project{
		Key:         "ATL",
		ID:          11,
		Name:        "Atlas",
		Description: "Machines that compute",
		Type:        "NORMAL",
		Links:       self("/projects/ATL"),
	})
}

// personal is a repository of the author's own.
func (t *teller) personal() *repository {
	u := t.author()
	return repositoryOf("notes", &project{
		Key:   "~" + strings.ToUpper(u.Slug),
		ID:    u.ID + 1000,
		Name:  u.DisplayName,
		Type:  "PERSONAL",
		Owner: u,
		Links: self("/users/" + u.Slug),
	})
}

func repositoryOf(slug string, in *project) *repository {
	page := strings.TrimPrefix(in.Links.Self[0].Href, BaseURL) + "/repos/" + slug + "/browse"
	clone := strings.ToLower(in.Key) + "/" + slug + ".git"
	r := &repository{
		Slug:          slug,
		ID:            int64(len(slug)) + in.ID*10,
		Name:          slug,
		HierarchyID:   sum("hierarchy", slug)[:20],
		ScmID:         "git",
		State:         "AVAILABLE",
		StatusMessage: "Available",
		Forkable:      true,
		Project:       *in,
		Links:         self(page),
	}
	r.Links.Clone = []link{
		{Href: BaseURL + "/scm/" + clone, Name: "http"},
		{Href: "ssh://git@git.example.com:7999/" + clone, Name: "ssh"},
	}
	return r
}

func self(path string) links { return links{Self: []link{{Href: BaseURL + path}}} }

// hash is the commit that the story calls by a name.
func (t *teller) hash(name string) string { return sum(fmt.Sprint(t.seq), name) }

func sum(a, b string) string {
	s := sha1.Sum([]byte(a + "/" + b)) // as Git's, which are not secrets either
	return hex.EncodeToString(s[:])
}

func (t *teller) ago(d time.Duration) stamp { return stamp{t.now.Add(-d), t.seq%2 != 0} }

// noHash stands for a commit that does not exist.
const noHash = "0000000000000000000000000000000000000000"

func branch(name string) ref { return ref{ID: "refs/heads/" + name, DisplayID: name, Type: "BRANCH"} }

func tag(name string) ref { return ref{ID: "refs/tags/" + name, DisplayID: name, Type: "TAG"} }
