package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/notify/notifytest"
	"outrigger/internal/rest/openapitest"
	"outrigger/internal/secret"
)

// asker is a column of the table: a kind of user, or of token.
type asker struct {
	name          string
	authorization string // of the REST API
	session       string // of the console
}

// permissionTable asks every operation and page as every kind of user and token.
type permissionTable struct {
	*App
	t      *testing.T
	askers []asker
	url    string // of a chat channel
	known  map[string]string
}

// TestEveryRouteAsEveryUser holds the table of all operations of the description and of all
// pages and forms of the console against testdata/permissions.txt, where an operation
// that is new, and a cell that changed, shows in a review; UPDATE_GOLDEN=1 writes it
// anew. What holds for each of them is checked besides: see judge.
//
// The users with a project or repository administer ATL, ATL/canoe and PAC of
// the connections main and cloud; rule, hook, event, delivery and channel that are
// asked for belong to ATL/canoe. Other ids are of nothing that is there. Below 400,
// and at 400 and 409 of what is sent without its members, the asker was let in.
// The wrong token is of nobody; the disabled user and the paused one have SYS_ADMIN, and
// ask with their sessions and tokens of scope all.
func TestEveryRouteAsEveryUser(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"}
	cfg.Notify.Connections = []config.Connection{
		{Name: "main", Kind: config.KindBitbucketDC, BaseURL: "http://127.0.0.1:1", WebhookSecret: secret.New("hook secret")},
		{Name: "cloud", Kind: config.KindBitbucketCloud, BaseURL: "http://127.0.0.1:1", WebhookSecret: secret.New("hook secret")},
	}
	chat := newChatPlatform(t)
	chat.answers(http.StatusServiceUnavailable, "") // so that a delivery waits until it is cancelled
	paused := makePaused(t, cfg)
	p := &permissionTable{App: start(t, cfg), t: t, url: chat.webhook("c2lnbmF0dXJlLXRoYXQtaXMtc2VjcmV0")}
	p.wake(paused)
	p.makeAskers(paused)
	p.makeThings()

	var table strings.Builder
	for _, pages := range []bool{false, true} {
		fmt.Fprintf(&table, "%-92s", map[bool]string{false: "# REST API", true: "\n# Console"}[pages])
		for _, who := range p.askers {
			fmt.Fprintf(&table, " %s", who.name)
		}
		table.WriteByte('\n')
		for _, row := range p.patterns(pages) {
			fmt.Fprintf(&table, "%-91s", row.text)
			cells := map[string]string{}
			for _, who := range p.askers {
				cells[who.name] = p.ask(row.text, who, pages)
				fmt.Fprintf(&table, " %-*s", len(who.name), cells[who.name])
			}
			table.WriteByte('\n')
			row.judge(t, cells, pages)
		}
	}
	got := regexp.MustCompile(` +\n`).ReplaceAllString(table.String(), "\n")
	if err := notifytest.GoldenText("permissions.txt", got); err != nil {
		t.Error(err)
	}
}

// tableRow is an operation or a page.
type tableRow struct {
	text string // as "GET /path/{id}"
	open bool   // no credentials are asked for
}

// patterns lists the operations of the description, or the pages.
func (p *permissionTable) patterns(pages bool) (all []tableRow) {
	if pages {
		for _, text := range p.pages.Patterns() {
			all = append(all, tableRow{text: text})
		}
		return all
	}
	spec, err := openapitest.Load(p.router.OpenAPI())
	if err != nil {
		p.t.Fatal(err)
	}
	operations, err := spec.Operations()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, op := range operations {
		all = append(all, tableRow{op.Method + " " + op.Path, op.Open})
	}
	order := map[string]int{} // what belongs together stands together
	for i, r := range p.router.Routes() {
		order[r.Method+" "+strings.ReplaceAll(r.Path, "...}", "}")] = i
	}
	slices.SortStableFunc(all, func(a, b tableRow) int { return cmp.Compare(order[a.text], order[b.text]) })
	return all
}

func (p *permissionTable) makeAskers(paused asker) {
	p.askers = []asker{
		{name: "nobody"}, {"wrong", "Bearer otr_" + strings.Repeat("x", 43), strings.Repeat("x", 43)}, p.makeDisabled(), paused,
	}
	atl, canoe, pac := identity.Resource{Connection: "main", Project: "ATL"},
		identity.Resource{Connection: "main", Project: "ATL", Repository: "canoe"}, identity.Resource{Connection: "main", Project: "PAC"}
	for _, u := range []struct {
		name  string
		grant identity.Permission
		at    identity.Resource
	}{
		{"user", "", identity.Resource{}}, {"repository", identity.RepoAdmin, canoe}, {"project", identity.ProjectAdmin, atl},
		{"other-project", identity.ProjectAdmin, pac}, {"global", identity.Admin, identity.Resource{}}, {"admin", "", identity.Resource{}},
	} {
		if u.name != "admin" {
			if _, err := p.identity.CreateUser(p.t.Context(), u.name, secret.New(password)); err != nil {
				p.t.Fatal(err)
			}
		}
		if u.grant != "" {
			if _, err := p.identity.Grant(p.t.Context(), u.name, u.grant, u.at); err != nil {
				p.t.Fatal(err)
			}
			if u.at.Connection == "main" {
				u.at.Connection = "cloud"
				if _, err := p.identity.Grant(p.t.Context(), u.name, u.grant, u.at); err != nil {
					p.t.Fatal(err)
				}
			}
		}
		p.askers = append(p.askers, asker{u.name, basic(u.name), p.signIn(u.name)})
	}
	for _, s := range identity.Scopes() {
		p.askers = append(p.askers, asker{name: "token:" + string(s), authorization: p.token("admin", s)})
	}
}

// basic is the header of a name and a password.
func basic(user string) string {
	var r http.Request
	r.Header = http.Header{}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// token is the header of a token.
func (p *permissionTable) token(user string, scope identity.Scope) string {
	token, _, err := p.identity.CreateToken(p.t.Context(), user, "the "+string(scope), scope, time.Time{})
	if err != nil {
		p.t.Fatal(err)
	}
	return "Bearer " + token.Reveal()
}

func (p *permissionTable) signIn(user string) string {
	p.t.Helper()
	session, _, err := p.identity.SignIn(p.t.Context(), user, password, "127.0.0.1")
	if err != nil {
		p.t.Fatal(err)
	}
	return session
}

// ask returns the status of a pattern for one asker; a page that sends to the
// sign-in is 401.
func (p *permissionTable) ask(pattern string, who asker, page bool) string {
	p.t.Helper()
	method, _, _ := strings.Cut(pattern, " ")
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel() // ends live answers too
	body, kind := p.body(pattern)
	r, err := http.NewRequestWithContext(ctx, method, "http://"+p.Addr()+p.path(pattern)+p.query(pattern), strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Tus-Resumable", "1.0.0") // of uploads
	if who.authorization != "" {
		r.Header.Set("Authorization", who.authorization)
	}
	if page && who.session != "" {
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: who.session})
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		p.t.Fatalf("%s as %s: %v", pattern, who.name, err)
	}
	resp.Body.Close()
	if page && strings.Contains(resp.Header.Get("Location"), "/sign-in") && pattern != "POST /sign-out" {
		return "401"
	}
	p.mend(pattern, resp.StatusCode, who)
	return fmt.Sprint(resp.StatusCode)
}
