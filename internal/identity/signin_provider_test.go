package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// company is a provider that says what a test has it say.
type company struct {
	account Account
	err     error
	asked   []Proofs // with a code
}

func (c *company) Location(_ context.Context, p Proofs) (string, error) {
	return "https://company.example/authorize?state=" + p.State, c.err
}

func (c *company) Account(_ context.Context, _ secret.Value, p Proofs) (Account, error) {
	c.asked = append(c.asked, p)
	return c.account, c.err
}

const elsewhere = "198.51.100.7"

// useCompany has users of a company sign in, whose administrators have ADMIN.
func (n node) useCompany(c *company) {
	n.UseSignInProvider(SignInProvider{ID: "oidc", Name: "the company", Source: SingleSignOn, Provider: c, Reconfirms: true})
	n.UseGroups(SingleSignOn, []string{"admins", "root & co"})
}

// begin returns the state of a sign-in that a browser begins.
func (n node) begin(t *testing.T, browser, addr string) string {
	t.Helper()
	return n.beginAs(t, browser, addr, false)
}

func (n node) beginAs(t *testing.T, browser, addr string, again bool) string {
	t.Helper()
	location, err := n.BeginSignIn(t.Context(), SignInRequest{Way: "oidc", Browser: browser, Back: "/rules", Address: addr, Again: again})
	if err != nil {
		t.Fatal(err)
	}
	_, state, _ := strings.Cut(location, "state=")
	return state
}

// complete comes back with a code.
func (n node) complete(t *testing.T, browser, state string) (*Principal, error) {
	t.Helper()
	session, back, err := n.CompleteSignIn(t.Context(), "oidc", browser, Answer{State: state, Code: secret.New("code")}, here)
	if err != nil {
		return nil, err
	}
	if back != "/rules" {
		t.Errorf("back to %q", back)
	}
	return n.Session(t.Context(), session)
}

// A sign-in belongs to the browser that began it, and what proves it comes from the
// browser alone.
func TestASignInBelongsToABrowser(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := &company{account: Account{Name: "ann", Subject: "1"}}
		n.useCompany(c)
		mine, other := BrowserSecret(), BrowserSecret()
		if !IsBrowserSecret(mine) || IsBrowserSecret("") || IsBrowserSecret(mine+"x") {
			t.Error("secrets are not told from other texts")
		}
		first, second := n.begin(t, mine, here), n.begin(t, mine, here)
		for name, err := range map[string]error{
			"another browser": func() error { _, err := n.complete(t, other, first); return err }(),
			"no browser":      func() error { _, err := n.complete(t, "", first); return err }(),
			"another state":   func() error { _, err := n.complete(t, mine, "x"); return err }(),
			"no state":        func() error { _, err := n.complete(t, mine, ""); return err }(),
		} {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, state := range []string{second, first} { // two windows, in any order
			if p, err := n.complete(t, mine, state); err != nil || p.Ref() != "oidc:ann" || !p.ConfirmedAt.IsZero() {
				t.Errorf("%+v, %v", p, err)
			}
			if _, err := n.complete(t, mine, state); !fault.Is(err, fault.Invalid) {
				t.Errorf("used: %v", err)
			}
		}
		if len(c.asked) != 2 || c.asked[0].Verifier == c.asked[1].Verifier || c.asked[0].Nonce == c.asked[1].Nonce || c.asked[0].Nonce == c.asked[0].Verifier || len(c.asked[0].Verifier) != 43 {
			t.Errorf("the provider was asked %+v", c.asked)
		}
		late := n.begin(t, mine, here)
		n.move(signInTime)
		if _, err := n.complete(t, mine, late); !fault.Is(err, fault.Invalid) {
			t.Errorf("over: %v", err)
		}
		if _, err := n.BeginSignIn(t.Context(), SignInRequest{Way: "none"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("an unknown way: %v", err)
		}
	})
}

// A flood from one address drops its own sign-ins and no other's.
func TestSignInsOfAnAddressAreLimited(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.useCompany(&company{account: Account{Name: "ann", Subject: "1"}})
		browser := BrowserSecret()
		mine := n.begin(t, browser, elsewhere)
		var states []string
		for range maxSignIns + 2 {
			n.clock.move(time.Millisecond)
			states = append(states, n.begin(t, browser, here))
		}
		for i, ok := range map[int]bool{0: false, 1: false, 2: true, maxSignIns + 1: true} {
			if _, err := n.complete(t, browser, states[i]); (err == nil) != ok {
				t.Errorf("sign-in %d: %v", i, err)
			}
		}
		if _, err := n.complete(t, browser, mine); err != nil {
			t.Errorf("from another address: %v", err)
		}
	})
}

// What a group gives holds until the next sign-in, for a week at most, and only while
// the settings name the group and the provider.
func TestGroupsOfAProvider(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := &company{account: Account{Name: "ann", Subject: "1", Groups: []string{"devs", "root & co", "SYS_ADMIN"}}}
		n.useCompany(c)
		browser := BrowserSecret()
		if p, err := n.complete(t, browser, n.begin(t, browser, here)); err != nil || !p.May(Admin, Resource{}) || p.May(SysAdmin, Resource{}) {
			t.Fatalf("%+v, %v", p, err)
		}
		token, _, err := n.CreateToken(t.Context(), "oidc:ann", "ci", All, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		may := func(n node, want bool, when string) {
			t.Helper()
			if p, err := n.Bearer(t.Context(), token.Reveal()); err != nil || p.May(Admin, Resource{}) != want {
				t.Errorf("%s: %+v, %v", when, p, err)
			}
		}
		may(n, true, "now")
		if u, err := n.User(t.Context(), "oidc:ann"); err != nil || len(u.ByGroups) != 1 || u.ByGroups[0].Group != "root & co" || u.ByGroups[0].Permission != Admin {
			t.Errorf("%+v, %v", u, err)
		}
		other := newNode(t, n.db, n.clock)
		other.UseSignInProvider(SignInProvider{ID: "oidc", Name: "the company", Source: SingleSignOn, Provider: c})
		other.UseGroups(SingleSignOn, []string{"admins"})
		may(other, false, "another group in the settings")
		without := newNode(t, n.db, n.clock)
		if _, err := without.Bearer(t.Context(), token.Reveal()); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("without single sign-on: %v", err)
		}
		n.move(claimsHold - time.Second)
		may(n, true, "within a week")
		n.move(2 * time.Second)
		may(n, false, "after a week")
		if _, err := n.complete(t, browser, n.begin(t, browser, here)); err != nil {
			t.Fatal(err)
		}
		may(n, true, "signed in again")
		c.account.Groups = nil
		if _, err := n.complete(t, browser, n.begin(t, browser, here)); err != nil {
			t.Fatal(err)
		}
		may(n, false, "signed in without the group")
	})
}

// A user is the account that signed in first, under whatever name it has.
func TestAccountsAndNames(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.useCompany(c)
		n.mustCreate(t, "ann")
		browser := BrowserSecret()
		enter := func(name, subject string) (*Principal, error) {
			t.Helper()
			c.account = Account{Name: name, Subject: subject}
			return n.complete(t, browser, n.begin(t, browser, here))
		}
		ann, err := enter("ann", "1")
		if err != nil || ann.Source != SingleSignOn {
			t.Fatalf("%+v, %v", ann, err)
		}
		if _, err := enter("Ann", "2"); !fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "belongs to another account") {
			t.Errorf("another account of the name: %v", err)
		}
		if p, err := enter("Ann", "1"); err != nil || p.UserID != ann.UserID || p.Name != "Ann" {
			t.Errorf("in another case: %+v, %v", p, err)
		}
		bob, err := enter("bob", "2")
		if err != nil || bob.UserID == ann.UserID {
			t.Fatalf("%+v, %v", bob, err)
		}
		if _, err := enter("bob", "1"); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("renamed to another's name: %v", err)
		}
		if p, err := enter("anna", "1"); err != nil || p.UserID != ann.UserID {
			t.Errorf("renamed: %+v, %v", p, err)
		}
		if !slices.ContainsFunc(n.trail(t), func(line string) bool {
			return line == `["anna","rename","user","oidc:anna"]{"name":"Ann"}{"name":"anna"}`
		}) {
			t.Errorf("the trail has %q", n.trail(t))
		}
		if p, err := enter("ann", "3"); err != nil || p.UserID == ann.UserID {
			t.Errorf("a name that is free again: %+v, %v", p, err)
		}
		if err := n.DeleteUser(t.Context(), "oidc:bob"); err != nil {
			t.Fatal(err)
		}
		if p, err := enter("bob", "4"); err != nil || p.UserID == bob.UserID {
			t.Errorf("after the deletion: %+v, %v", p, err)
		}
		if err := n.CheckPassword(t.Context(), "oidc:ann", "x", here); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "single sign-on") {
			t.Errorf("a password: %v", err)
		}
		if err := n.DisableUser(t.Context(), "oidc:ann"); err != nil {
			t.Fatal(err)
		}
		if _, err := enter("ann", "3"); !fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "is disabled in Outrigger") {
			t.Errorf("disabled: %v", err)
		}
		c.err = fault.Wrap(errors.New("503 from it"), fault.Unavailable, "No usable answer.")
		if _, err := n.BeginSignIn(t.Context(), SignInRequest{Way: "oidc", Browser: browser}); !fault.Is(err, fault.Unavailable) || !strings.Contains(n.log.String(), "503 from it") {
			t.Errorf("away: %v, %s", err, n.log)
		}
	})
}

// A session is confirmed by when the provider asked who is there, never by a provider
// that does not say so; a sign-in that is to confirm is refused where that was before.
func TestWhenTheProviderAsked(t *testing.T) {
	const never = -1000 * time.Hour
	each(t, func(t *testing.T, n node) {
		c := new(company)
		n.useCompany(c)
		browser := BrowserSecret()
		for _, tc := range []struct {
			name              string
			at                time.Duration // after the sign-in began
			confirmed         bool
			refused, refused2 string // at a first sign-in; when asked again
		}{
			{"nothing is said", never, false, "", "no usable claim auth_time"},
			{"an hour ago", -time.Hour, false, "", "auth_time) is from before"},
			{"five minutes ago", -5 * time.Minute, true, "", "auth_time) is from before"},
			{"61 s ago", -61 * time.Second, true, "", "auth_time) is from before"},
			{"60 s ago, by a clock that is behind", -time.Minute, true, "", ""},
			{"now", 0, true, "", ""},
			{"in 60 s, by a clock that is ahead", time.Minute, true, "", ""},
			{"in 61 s", 61 * time.Second, false, "auth_time) is in the future", "auth_time) is in the future"},
			{"tomorrow", 24 * time.Hour, false, "auth_time) is in the future", "auth_time) is in the future"},
		} {
			for again, refused := range map[bool]string{false: tc.refused, true: tc.refused2} {
				state := n.beginAs(t, browser, here, again)
				c.account = Account{Name: "ann", Subject: "1"}
				if tc.at != never {
					c.account.AuthenticatedAt = n.read().Add(tc.at)
				}
				n.move(400 * time.Millisecond) // providers say whole seconds
				p, err := n.complete(t, browser, state)
				n.move(600 * time.Millisecond)
				if refused != "" {
					if !fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), refused) {
						t.Errorf("%s, again %v: %v", tc.name, again, err)
					}
					continue
				}
				if err != nil || p.ConfirmedAt.After(n.read()) {
					t.Errorf("%s, again %v: %+v, %v", tc.name, again, p, err)
					continue
				}
				err = n.RequireConfirmed(With(t.Context(), p))
				if (err == nil) != tc.confirmed || err != nil && !errors.Is(err, ErrUnconfirmed) {
					t.Errorf("%s, again %v, is confirmed: %v", tc.name, again, err)
				}
				if tc.at == never && !strings.Contains(err.Error(), "auth_time") {
					t.Errorf("the claim is not named: %v", err)
				}
			}
		}
	})
}

// Two browsers that ask again at once each count from their own start.
func TestTwoBrowsersAskAgain(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := &company{account: Account{Name: "ann", Subject: "1"}}
		n.useCompany(c)
		one, two := BrowserSecret(), BrowserSecret()
		first := n.beginAs(t, one, here, true)
		n.move(5 * time.Minute)
		second := n.beginAs(t, two, here, true)
		c.account.AuthenticatedAt = n.read().Add(-3 * time.Minute) // after the first, before the second
		if _, err := n.complete(t, two, second); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the second, by the answer to the first: %v", err)
		}
		if p, err := n.complete(t, one, first); err != nil || n.RequireConfirmed(With(t.Context(), p)) != nil {
			t.Errorf("the first: %+v, %v", p, err)
		}
	})
}

// Answers of a provider that are no code ask it nothing.
func TestAnswersWithoutACode(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		c := new(company)
		w := &SignInProvider{Name: "the company", Provider: c}
		for _, a := range []Answer{{Error: "access_denied"}, {Error: "server_error", Code: secret.New("code")}, {}} {
			if _, err := n.ask(t.Context(), &completion{SignInProvider: w, answer: a, addr: here}); !fault.Is(err, fault.Unauthenticated) || strings.Contains(fault.As(err).Message, "server_error") {
				t.Errorf("%+v: %v", a, err)
			}
		}
		if len(c.asked) != 0 {
			t.Error("the provider was asked")
		}
		c.err = fmt.Errorf("asking: %w", context.DeadlineExceeded)
		if _, err := n.ask(t.Context(), &completion{SignInProvider: w, answer: Answer{Code: secret.New("code")}, addr: here}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("too late: %v", err)
		}
	})
}
