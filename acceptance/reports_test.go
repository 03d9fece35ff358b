package acceptance

import (
	"bytes"
	crypto "crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/bitbucket"
)

const (
	reportsAtOnce  = 20
	reportChannels = 5
	reportKills    = 8
)

// TestManyReportsAtOneTimeUnderKills has twenty reports of as many repositories
// come due at one time on three nodes that are killed again and again: each is
// sent, with its own card, and none by two deliveries.
func TestManyReportsAtOneTimeUnderKills(t *testing.T) {
	t.Parallel()
	platform, chat := slowPlatform(t), newReportChat(t)
	key := make([]byte, 32)
	crypto.Read(key) // never fails (crypto/rand)
	s := loadtest.Settings{DatabaseURL: dbtest.PostgresURL(t), SecretKey: base64.StdEncoding.EncodeToString(key), Clustered: true}
	var nodes []*loadtest.Process
	for _, s.NodeID = range []string{"a", "b", "c"} {
		p := node(t, s)
		start(t, p)
		nodes = append(nodes, p)
	}
	tell(t, nodes[0], "/rest/outrigger/1.0/connections", map[string]any{"name": "code", "kind": "bitbucket-dc", "baseUrl": platform, "token": "right"})
	due := time.Now().UTC().Add(25 * time.Second).Truncate(time.Minute).Add(time.Minute) // they are saved before
	for i := range reportsAtOnce {
		tell(t, nodes[0], "/rest/mtbs/1.0/configuration/reports", map[string]any{
			"name": fmt.Sprintf("Report %d", i), "connection": "code", "projectKey": "ATL", "repositoryKey": fmt.Sprintf("canoe-%d", i),
			"webhookUrl": fmt.Sprintf("%s/%d", chat.URL, i%reportChannels), "inactivityDays": 7, "frequency": "DAILY", "time": due.Format("15:04"), "timeZone": "UTC",
		})
	}
	pass(t, time.Until(due)-time.Second)
	for range reportKills {
		pass(t, rand.N(1500*time.Millisecond))
		p := nodes[rand.IntN(len(nodes))]
		p.Kill()
		if err := p.Spawn(); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range nodes {
		if err := p.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var reports struct {
		Items []struct {
			ID                           int64
			Name, LastOutcome, LastError string
		}
	}
	delivered := func() (n int) {
		ask(t, nodes[0], "/rest/mtbs/1.0/configuration/reports?limit=100", &reports)
		for _, r := range reports.Items {
			if r.LastOutcome == "delivered" {
				n++
			}
		}
		return n
	}
	eventually(t, patience, func() bool { return delivered() == reportsAtOnce })
	if n := delivered(); n != reportsAtOnce {
		t.Fatalf("%d reports are delivered: %+v", n, reports.Items)
	}
	for _, r := range reports.Items {
		var deliveries struct{ Items []struct{ ID int64 } }
		ask(t, nodes[0], fmt.Sprintf("/rest/mtbs/1.0/configuration/deliveries?reportId=%d", r.ID), &deliveries)
		if len(deliveries.Items) != 1 {
			t.Errorf("%s has %d deliveries", r.Name, len(deliveries.Items))
		}
	}
	chat.check(t)
}

// slowPlatform has a pull request in each of the repositories, and takes up to a
// second to list it, so that nodes die while they ask.
func slowPlatform(t *testing.T) (url string) {
	project := bitbucket.Project{Key: "ATL"}
	for i := range reportsAtOnce {
		project.Repositories = append(project.Repositories, bitbucket.Repository{Slug: fmt.Sprintf("canoe-%d", i), PullRequests: []bitbucket.PullRequest{{
			ID: 1, Title: fmt.Sprintf("Mend canoe %d", i), Author: "ana", Target: "main", Updated: time.Now().AddDate(0, 0, -40),
		}}})
	}
	p := bitbucket.New(bitbucket.Options{Token: "right", Projects: []bitbucket.Project{project}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/pull-requests") {
			select {
			case <-time.After(rand.N(time.Second)):
			case <-r.Context().Done():
			}
		}
		p.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// reportChat keeps what was posted to it.
type reportChat struct {
	*httptest.Server
	mu    sync.Mutex
	posts []string
}

func newReportChat(t *testing.T) *reportChat {
	c := new(reportChat)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			c.posts = append(c.posts, string(body))
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(c.Close)
	return c
}

// check wants the card of every report, and no more repeats than a channel may
// have of a kill.
func (c *reportChat) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range reportsAtOnce {
		var own int
		for _, post := range c.posts {
			if strings.Contains(post, fmt.Sprintf("Report %d: 1 open pull request", i)) && strings.Contains(post, fmt.Sprintf("Mend canoe %d", i)) {
				own++
			}
		}
		if own == 0 {
			t.Errorf("the card of report %d did not arrive", i)
		}
	}
	repeated := len(c.posts) - reportsAtOnce
	t.Logf("%d cards were repeated", repeated)
	if repeated > reportKills*reportChannels {
		t.Errorf("%d cards were repeated after %d kills on %d channels", repeated, reportKills, reportChannels)
	}
}

// tell posts a value to a node as the user admin.
func tell(t *testing.T, p *loadtest.Process, path string, value any) {
	t.Helper()
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.Addr()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", loadtest.AdminPassword)
	r.Header.Set("Content-Type", "application/json")
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		answer, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s %s", path, resp.Status, answer)
	}
}
