package cloudsamples

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"
)

type (
	object = map[string]any
	list   = []any
)

// teller knows who and what the story of one seq is about.
type teller struct {
	Place
	seq int64
	now time.Time
}

var people = [...]string{"Ada Lovelace", "Grace Hopper", "Alan Turing", "Katherine Johnson", "Edsger Dijkstra", "Barbara Liskov"}

// topics are what branches and pull requests are about.
var topics = [...]struct{ branch, title, description string }{
	{"carry-lever", "Carry over all seven wheels at once", "The carry went wheel by wheel, which took seven turns. Now a lever lifts all " +
		"of them.\n\nSee the drawing in `doc/carry.svg`."},
	{"punch-card-reader", "Read punch cards with folded corners", "Folded corners used to stop the reader.\n\n" +
		"* the sensor is asked twice\n" +
		"* a card that stays unreadable goes to its own tray"},
	{"orbit-tables", "Round orbit tables half to even", "The last digit of the printed tables was one too high in 0.4 % of all rows."},
}

func pick[T any](from []T, n int64) T { return from[uint64(n)%uint64(len(from))] }

// person is an account: since 2019 they have neither a user name nor an e-mail
// address.
func (t *teller) person(n int64) object {
	name := pick(people[:], t.seq+n)
	id := uuid("person/" + name)
	return object{
		"type": "user", "display_name": name, "nickname": name, "account_id": "712020:" + strings.Trim(id, "{}"), "uuid": id,
		"links": t.links("https://api.bitbucket.org/2.0/users/"+url.PathEscape(id), t.Site+"/"+url.PathEscape(id)+"/"),
	}
}

func (t *teller) author() object   { return t.person(0) }
func (t *teller) reviewer() object { return t.person(1) }
func (t *teller) other() object    { return t.person(2) }

// number is the pull request's, the and the pipeline's.
func (t *teller) number() int64 { return int64(uint64(t.seq)%9_000_000) + 1 }

func (t *teller) branch() string {
	return fmt.Sprintf("feature/ATL-%d-%s", t.number(), pick(topics[:], t.seq).branch)
}

func (t *teller) page() string { return t.Site + "/" + t.Workspace + "/" + t.Repository }

func (t *teller) links(self, html string) object {
	return object{"self": object{"href": self}, "html": object{"href": html}}
}

// in are the links of a resource of the repository and of its page.
func (t *teller) in(api, page string) object {
	return t.links("https://api.bitbucket.org/2.0/repositories/"+t.Workspace+"/"+t.Repository+api, t.page()+page)
}

func (t *teller) repository() object {
	r := t.shortRepository()
	r["scm"], r["website"], r["is_private"], r["parent"] = "git", nil, true, nil
	r["owner"], r["workspace"], r["project"] = t.team(t.Workspace), t.workspace(), t.project()
	return r
}

func (t *teller) shortRepository() object {
	return object{
		"type": "repository", "full_name": t.Workspace + "/" + t.Repository, "name": t.Repository,
		"uuid": uuid("repository/" + t.Workspace + "/" + t.Repository), "links": t.in("", ""),
	}
}

func (t *teller) workspace() object {
	return object{
		"type": "workspace", "slug": t.Workspace, "name": "Atlas Machines", "uuid": uuid("workspace/" + t.Workspace),
		"links": t.links("https://api.bitbucket.org/2.0/workspaces/"+t.Workspace, t.Site+"/"+t.Workspace+"/"),
	}
}

// team is the account of a workspace; it has a user name yet.
func (t *teller) team(slug string) object {
	id := uuid("workspace/" + slug)
	return object{
		"type": "team", "display_name": "Atlas Machines", "username": slug, "uuid": id,
		"links": t.links("https://api.bitbucket.org/2.0/workspaces/"+url.PathEscape(id), t.Site+"/"+url.PathEscape(id)+"/"),
	}
}

func (t *teller) project() object {
	return object{
		"type": "project", "key": "MACH", "name": "Machines", "uuid": uuid("project/MACH"),
		"links": t.links("https://api.bitbucket.org/2.0/workspaces/"+t.Workspace+"/projects/MACH",
			t.Site+"/"+t.Workspace+"/workspace/projects/MACH"),
	}
}

// by is what every body has: who, and where.
func (t *teller) by(actor object, more object) object {
	body := object{"actor": actor, "repository": t.repository()}
	for name, value := range more {
		body[name] = value
	}
	return body
}

func (t *teller) repositoryOnly() object { return t.by(t.author(), nil) }

// ago writes a time as the platform does.
func (t *teller) ago(d time.Duration) string {
	return t.now.Add(-d).UTC().Format("2006-01-02T15:04:05.000000-07:00")
}

// hash is the commit that the story calls by a name.
func (t *teller) hash(name string) string { return sum(fmt.Sprint(t.seq) + "/" + name) }

func sum(s string) string {
	b := sha1.Sum([]byte(s)) // as Git's, which are not secrets either
	return hex.EncodeToString(b[:])
}

func uuid(of string) string {
	s := sum(of)
	return "{" + s[:8] + "-" + s[8:12] + "-4" + s[13:16] + "-8" + s[17:20] + "-" + s[20:32] + "}"
}
