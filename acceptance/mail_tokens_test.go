package acceptance

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
)

// TestMailByTokens sends mail to a server that wants tokens, XOAUTH2 after STARTTLS.
// Tokens end while sessions are kept and while they are busy; the application's
// secret is revoked, which is said in the provider's words, and given again. All
// arrives, and no token shows anywhere.
func TestMailByTokens(t *testing.T) {
	t.Parallel()
	provider := startMailProvider(t, "xoauth2 oauthbearer")
	p := node(t, provider.settings("client_credentials", loadtest.Settings{
		NodeID: "node_1", MailListen: freeAddress(t), Smarthost: provider.server.startTLS, SmarthostTLS: "starttls",
	}))
	start(t, p)
	part, repeats := tokenMails(t)/4, 0
	send := func() { source(t, p.Settings.MailListen, part) }

	send()
	provider.arrived(t, part, 0, p)
	if asked := provider.Asked(); asked != 1 {
		t.Errorf("%d tokens were asked for while one was valid", asked)
	}

	provider.endTokens(t) // while sessions are kept
	send()
	for range 4 {
		pass(t, rand.N(100*time.Millisecond))
		provider.endTokens(t)
		repeats += 8 // mail.connections
	}
	provider.arrived(t, 2*part, repeats, p)

	provider.SetSecret("")
	provider.endTokens(t)
	send()
	saysWhy(t, p, "node_1", "answered 401: invalid_client: AADSTS7000215: Invalid client secret provided.")
	if s := mailStatus(t, p); s != (sizes{Size: int64(part)}) {
		t.Errorf("without a token: %+v, want %d waiting", s, part)
	}
	noAttempts(t, p, part)
	provider.SetSecret(mailSecret)
	until(t, patience, "sending does not go on by itself", func() bool { return mailStatus(t, p) == sizes{} })
	send()
	provider.arrived(t, 4*part, repeats, p)

	secrets := append(provider.Issued(), mailSecret)
	noneShows(t, p, secrets)
	p.Kill()
	noneInFiles(t, p.Settings.Dir, secrets)
}

// TestMailByRefreshTokens has two nodes with one database send mail to a server that
// takes tokens by OAUTHBEARER, within TLS. The provider replaces the refresh token at
// each use, while nodes are killed. Where an answer with one is read by nobody, the
// provider's words are shown, and a new consent has all go on.
func TestMailByRefreshTokens(t *testing.T) {
	t.Parallel()
	provider := startMailProvider(t, "oauthbearer")
	key := secretKey()
	url := dbtest.PostgresURL(t)
	var nodes []*loadtest.Process
	for _, id := range []string{"node_1", "node_2"} {
		p := node(t, provider.settings("refresh_token", loadtest.Settings{
			DatabaseURL: url, NodeID: id, SecretKey: key, Clustered: true,
			MailListen: freeAddress(t), Smarthost: provider.server.tls, SmarthostTLS: "tls", MailConnections: 4, // Dovecot takes 10 of one address
		}))
		start(t, p)
		nodes = append(nodes, p)
	}
	const rounds = 5
	part, sent, repeats := tokenMails(t)/(2*(rounds+1)), 0, 0
	send := func() {
		for _, p := range nodes {
			source(t, p.Settings.MailListen, part)
		}
		sent += 2 * part
	}
	both := func(f func(*loadtest.Process)) {
		for _, p := range nodes {
			f(p)
		}
	}
	provider.SetLenient(true)
	for round := range rounds {
		provider.endTokens(t)
		repeats += 2 * 2 * 4 // sessions of both nodes that ended, and both nodes killed
		switch round % 2 {
		case 0:
			send()
			pass(t, rand.N(200*time.Millisecond))
			one := nodes[round/2%2]
			one.Kill()
			start(t, one)
		case 1: // while it asks for a token, for the one message that is sent then
			provider.arrived(t, sent, repeats, nodes...)
			provider.endTokens(t)
			dead := make(chan struct{})
			provider.answersNobody(func() {
				defer close(dead)
				both((*loadtest.Process).Kill)
			})
			source(t, nodes[0].Settings.MailListen, 1)
			sent++
			<-dead
			both(func(p *loadtest.Process) { start(t, p) })
			send()
		}
	}
	provider.arrived(t, sent, repeats, nodes...)

	// The provider takes a refresh token once, and the process dies before it has read
	// the next one.
	provider.SetLenient(false)
	provider.endTokens(t)
	dead := make(chan struct{})
	provider.answersNobody(func() {
		defer close(dead)
		both((*loadtest.Process).Kill)
	})
	source(t, nodes[0].Settings.MailListen, 1)
	sent++
	<-dead
	both(func(p *loadtest.Process) { start(t, p) })
	send()
	for i, p := range nodes {
		saysWhy(t, p, fmt.Sprintf("node_%d", i+1), "invalid_grant: AADSTS70000: The refresh token has been used or revoked.")
	}
	consent := provider.Consent()
	both(func(p *loadtest.Process) {
		p.Kill()
		reconfigure(t, p, firstRefresh, consent)
		start(t, p)
	})
	provider.arrived(t, sent, repeats, nodes...)

	secrets := append(provider.Issued(), mailSecret, firstRefresh)
	both(func(p *loadtest.Process) { noneShows(t, p, secrets) })
	both((*loadtest.Process).Kill)
	both(func(p *loadtest.Process) { noneInFiles(t, p.Settings.Dir, secrets) })
	noneInDatabase(t, url, secrets)
}

// reconfigure changes the configuration file of a node.
func reconfigure(t *testing.T, p *loadtest.Process, from, to string) {
	t.Helper()
	text, err := os.ReadFile(p.Configuration())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(from)) {
		t.Fatalf("the configuration has no %s", from)
	}
	if err := os.WriteFile(p.Configuration(), bytes.ReplaceAll(text, []byte(from), []byte(to)), 0o600); err != nil {
		t.Fatal(err)
	}
}
