package deciding

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
)

// vector is what the real engine says of a pattern.
type vector struct {
	Pattern string
	OK      bool
	Cases   [][2]any
}

func vectors(t *testing.T, file string) (all []vector) {
	t.Helper()
	dir := os.Getenv("OUTRIGGER_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the vectors are not here (%v); set OUTRIGGER_SHARED to where they are", err)
	}
	f, err := os.Open(filepath.Join(dir, "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil || len(all) == 0 {
		t.Fatalf("read %d vectors: %v", len(all), err)
	}
	return all
}

// memory is a Queue of one generation of rules, which keeps nothing.
type memory struct {
	Queue
	rules *notify.RuleSet
}

func (m *memory) Rules() *notify.RuleSet                             { return m.rules }
func (m *memory) FailMask(context.Context, notify.MaskFailure) error { return nil }

// Every mask that Java accepts can be a rule's, and the rule, its form's try and
// Java say the same of every name, decided at once or later. Every one that
// JavaScript accepts can be a rule's of the cloud edition.
func TestRulesDecideAsTheRealEngines(t *testing.T) {
	t.Run("Java", func(t *testing.T) {
		decideAs(t, "java-regex.jsonl", 300, func(pattern string) notify.Filter { return notify.Filter{BranchMask: pattern} })
	})
	t.Run("JavaScript", func(t *testing.T) {
		decideAs(t, "javascript-regex.jsonl", 290, func(pattern string) notify.Filter {
			return notify.Filter{DestinationBranchFilter: pattern, ExpectedCommitStatus: notify.StatusBoth}
		})
	})
}

// decideAs takes at least so many of the file's patterns as rules.
func decideAs(t *testing.T, file string, least int, filter func(pattern string) notify.Filter) {
	accepted, later := 0, 0
	trials, ctx := new(admin.Trials), identity.With(t.Context(), &identity.Principal{Name: "ada"})
	for _, v := range vectors(t, file) {
		rule := &notify.Rule{ID: 1, Name: "x", Connection: "dc", Enabled: true, Format: notify.Teams, Filter: filter(v.Pattern)}
		rule.EventTypes = []notify.EventType{notify.BranchUpdated}
		if v.Pattern == "" {
			continue // no mask
		}
		mayRefuse := strings.Contains(v.Pattern, `\N{`) || strings.Contains(v.Pattern, `\X`)
		switch err := rule.Validate(); {
		case err == nil && !v.OK:
			t.Errorf("a rule takes %q", v.Pattern)
			continue
		case err != nil && v.OK && !mayRefuse:
			t.Errorf("a rule refuses %q: %v", v.Pattern, err)
			continue
		case err != nil:
			continue
		}
		accepted++
		set, broken := new(notify.RuleSet).Next(1, []*notify.Rule{rule})
		if len(broken) > 0 {
			t.Errorf("%q: %v", v.Pattern, broken)
		}
		d := New(Options{Queue: &memory{rules: set}})
		for _, c := range v.Cases {
			name, want := c[0].(string), c[1].(bool)
			if name == "" {
				continue // an event with no branch
			}
			got, deferred := decide(t, d, set, name)
			if deferred {
				later++
			}
			tried, err := trials.TryMasks(ctx, &rule.Filter, []string{name}, nil)
			if err != nil {
				t.Fatalf("%q on %q: %v", v.Pattern, name, err)
			}
			if got != want || tried[0].Names[0].Match != want || tried[0].Deferred != deferred {
				t.Errorf("%q on %q: the rule says %v (later: %v), the try %+v; want %v", v.Pattern, name, got, deferred, tried, want)
			}
		}
	}
	if accepted < least || later == 0 {
		t.Errorf("%d masks were rules, %d names decided later", accepted, later)
	}
}

// decide reports whether the rule takes a push to the branch, and whether that was
// decided later.
func decide(t *testing.T, d *Decider, set *notify.RuleSet, branch string) (taken, later bool) {
	t.Helper()
	e := push(branch)
	matches := set.Match(&e, nil)
	if len(matches) == 0 || matches[0].Open == 0 {
		return len(matches) > 0, false
	}
	settled, err := newCase(d, &notify.Delivery{Event: &e, Undecided: []int64{1}}).judge(t.Context(), nil)
	if err != nil || len(settled.Decisions) != 1 {
		t.Fatalf("%+v, %v", settled, err)
	}
	return settled.Decisions[0].Taken, true
}

// Names with every odd character are matched as they are.
func TestOddBranchNames(t *testing.T) {
	odd := []string{
		"a b", "a,b", "a\tb", "a\nb", "a\r\n", "\u0000", "a\u0000b", "\u0085", "\u2028", "\ufeffx", "ä", "a\u0308", "İ", "ß", "ſ", "\U0001F600",
		"\U0001F468\u200d\U0001F469", "\ufffd", "\u202e abc", `\`, `\Q\E`, "[", "(", "{}", "'\"<>&", "%s%n", "refs/heads/x", "..", "~^:?*[\\", "-",
		strings.Repeat("x", 10_000), strings.Repeat("\U0001F600", 5_000), "\x7f", "\ue000", "\U0010FFFF",
	}
	for _, pattern := range []string{`(?s).*`, `(?s)(?=.).*`} {
		rule := &notify.Rule{ID: 1, Connection: "dc", Enabled: true, Filter: notify.Filter{
			EventTypes: []notify.EventType{notify.BranchUpdated}, BranchMask: pattern,
		}}
		set, _ := new(notify.RuleSet).Next(1, []*notify.Rule{rule})
		d := New(Options{Queue: &memory{rules: set}})
		for _, name := range odd {
			if taken, _ := decide(t, d, set, name); !taken {
				t.Errorf("%s does not take %.20q", pattern, name)
			}
			quoted := *rule
			quoted.BranchMask = `(?=)\Q` + strings.ReplaceAll(name, `\E`, `\E\\E\Q`) + `\E`
			own, broken := new(notify.RuleSet).Next(1, []*notify.Rule{&quoted})
			if len(broken) > 0 {
				if len(name) < 9_000 {
					t.Errorf("%.20q cannot be a mask: %v", quoted.BranchMask, broken)
				}
				continue // longer than a mask may be
			}
			d := New(Options{Queue: &memory{rules: own}})
			if taken, _ := decide(t, d, own, name); !taken {
				t.Errorf("%.20q does not take its own name", quoted.BranchMask)
			}
			if taken, _ := decide(t, d, own, name+"x"); taken {
				t.Errorf("%.20q takes more than its own name", quoted.BranchMask)
			}
		}
	}
}
