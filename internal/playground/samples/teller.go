package samples

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

type (
	object = map[string]any
	list   = []any
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

func (t *teller) person(n int64) object {
	i := uint64(t.seq+n) % uint64(len(people))
	p := people[i]
	return object{
		"name": p.Name, "emailAddress": p.Name + "@example.com", "active": true, "displayName": p.DisplayName, "id": int64(i) + 101,
		"slug": p.Name, "type": "NORMAL", "links": self("/users/" + p.Name),
	}
}

// author is who works on the story's branch; reviewer and other look at it.
func (t *teller) author() object   { return t.person(0) }
func (t *teller) reviewer() object { return t.person(1) }
func (t *teller) other() object    { return t.person(2) }

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

func (t *teller) project() object {
	return object{
		"key": "ATL", "id": int64(11), "name": "Atlas", "description": "Machines that compute", "public": false, "type": "NORMAL",
		"links": self("/projects/ATL"),
	}
}

func (t *teller) slug() string { return pick(repositories[:], t.seq) }

func (t *teller) repository() object { return repositoryIn(t.project(), "/projects/ATL", t.slug()) }

// personal is a repository of the author's own.
func (t *teller) personal(slug string) object {
	u := t.author()
	name := u["slug"].(string)
	return repositoryIn(object{
		"key": "~" + strings.ToUpper(name), "id": u["id"].(int64) + 1000, "name": u["displayName"], "public": false, "type": "PERSONAL",
		"owner": u, "links": self("/users/" + name),
	}, "/users/"+name, slug)
}

func repositoryIn(project object, page, slug string) object {
	clone := strings.ToLower(project["key"].(string)) + "/" + slug + ".git"
	links := self(page + "/repos/" + slug + "/browse")
	links["clone"] = list{
		object{"href": BaseURL + "/scm/" + clone, "name": "http"},
		object{"href": "ssh://git@git.example.com:7999/" + clone, "name": "ssh"},
	}
	return object{
		"slug": slug, "id": int64(len(slug)) + project["id"].(int64)*10, "name": slug, "hierarchyId": sum("hierarchy", slug)[:20],
		"scmId": "git", "state": "AVAILABLE", "statusMessage": "Available", "forkable": true, "project": project, "public": false,
		"archived": false, "links": links,
	}
}

func self(path string) object { return object{"self": list{object{"href": BaseURL + path}}} }

// hash is the commit that the story calls by a name.
func (t *teller) hash(name string) string { return sum(fmt.Sprint(t.seq), name) }

func sum(a, b string) string {
	s := sha1.Sum([]byte(a + "/" + b)) // as Git's, which are not secrets either
	return hex.EncodeToString(s[:])
}

// ago writes a time in one of the platform's two styles.
func (t *teller) ago(d time.Duration) any {
	at := t.now.Add(-d)
	if t.seq%2 != 0 {
		return at.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return at.UnixMilli()
}

// noHash stands for a commit that does not exist.
const noHash = "0000000000000000000000000000000000000000"

func branch(name string) object { return ref("heads", name, "BRANCH") }

func tag(name string) object { return ref("tags", name, "TAG") }

func ref(folder, name, kind string) object {
	return object{"id": "refs/" + folder + "/" + name, "displayId": name, "type": kind}
}
