package jiracloud_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/secret"
	"outrigger/internal/threads"
	"outrigger/internal/threads/jiracloud"
)

func TestMapsComeAndGo(t *testing.T) { synctest.Test(t, mapsComeAndGo) }

func mapsComeAndGo(t *testing.T) {
	site, target := play(t, cloudsite.Options{})
	if m, err := target.Read(t.Context(), 7); err != nil || len(m) != 0 {
		t.Fatalf("at first: %v, %v", m, err)
	}
	for _, n := range []int{1, 3, 1500, 3000, 3001, 1500, 2, 0, 1500, 0, 1} {
		m := many(n, int64(n))
		write(t, target, 7, m)
		got, err := target.Read(t.Context(), 7)
		if err != nil || !slices.Equal(got, m) || !slices.Equal(seen(t, site, 7), m) {
			t.Fatalf("%d relations: %d are read, %v", n, len(got), err)
		}
		want := map[int]int{0: 0, 1: 1, 2: 1, 3: 1, 1500: 4, 3000: 6, 3001: 6}[n] // the head beside its parts
		if keys := site.Keys(7); len(keys) != want {
			t.Fatalf("%d relations are in %v", n, keys)
		}
	}
	if m, err := target.Read(t.Context(), 8); err != nil || len(m) != 0 {
		t.Errorf("another issue: %v, %v", m, err)
	}
}

// What the new data does not name stays; what changes nothing is not written.
func TestMerge(t *testing.T) {
	site, target := play(t, cloudsite.Options{})
	news := threads.NewParentMap([]threads.Relation{{CommentID: 2, ParentID: 1}, {CommentID: 3, ParentID: 2}})
	merge := func(old threads.ParentMap) (threads.ParentMap, error) { return old.Merge(news), nil }
	write(t, target, 7, threads.NewParentMap([]threads.Relation{{CommentID: 3, ParentID: 1}, {CommentID: 9, ParentID: 8}}))
	want := threads.NewParentMap([]threads.Relation{{CommentID: 2, ParentID: 1}, {CommentID: 3, ParentID: 2}, {CommentID: 9, ParentID: 8}})
	for range 3 {
		if got, err := target.Write(t.Context(), 7, merge); err != nil || !slices.Equal(got, want) {
			t.Fatalf("it is %v, %v", got, err)
		}
	}
	if site.Writes(7) != 2 {
		t.Errorf("it was written %d times", site.Writes(7))
	}
	if text, _ := site.Property(7, cloudsite.Threads); text != `{"v":1,"generation":2,"parents":{"2":"1","3":"2","9":"8"}}` {
		t.Error(text)
	}
}

// A write may break off at each of its requests, which was done by then or was
// not: the map is the old one or the new one then, and writing again gives the
// new one and leaves nothing over.
func TestABreakAnywhere(t *testing.T) {
	for _, sizes := range [][2]int{{0, 2}, {2, 3}, {2, 0}, {0, 800}, {2, 800}, {800, 2}, {800, 0}, {800, 801}, {800, 1500}, {1500, 800}} {
		for _, applied := range []bool{false, true} {
			t.Run(fmt.Sprintf("from %d to %d, applied %v", sizes[0], sizes[1], applied), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					before, after := many(sizes[0], 1), many(sizes[1], 2)
					want := properties(after)
					for n := int64(1); breakAt(t, n, applied, before, after, want); n++ {
					}
				})
			})
		}
	}
}

// breakAt breaks a write off at its request n; false when it has fewer. want is
// how many properties are left by one that does not break off.
func breakAt(t *testing.T, n int64, applied bool, before, after threads.ParentMap, want int) bool {
	dies := int64(0)
	site, target := play(t, cloudsite.Options{React: func(r cloudsite.Request) *cloudsite.Reaction {
		if dies == 0 || r.Number < dies {
			return nil
		}
		return &cloudsite.Reaction{Apply: applied && r.Number == dies, Then: cloudsite.HangUp}
	}})
	write(t, target, 7, before)
	dies = site.Counts().Requests + n
	_, err := target.Write(t.Context(), 7, become(after))
	broke := site.Counts().Requests >= dies
	if (err != nil) != broke {
		t.Fatalf("broken off at request %d: %v", n, err)
	}
	dies = 0
	left := seen(t, site, 7)
	read, err := target.Read(t.Context(), 7)
	if err != nil || !slices.Equal(read, left) || !slices.Equal(left, before) && !slices.Equal(left, after) {
		t.Fatalf("broken off at request %d there are %d relations, and %d are read: %v", n, len(left), len(read), err)
	}
	write(t, target, 7, after)
	if keys := site.Keys(7); !slices.Equal(seen(t, site, 7), after) || len(keys) != want {
		t.Fatalf("broken off at request %d, after another write there is %v", n, keys)
	}
	return broke
}

// Another map may be written while one is read: what is read is one of the two.
func TestAReaderBesideAWriter(t *testing.T) {
	var target *jiracloud.Target
	small, large, written := many(3, 3), many(800, 1), false
	site, target := play(t, cloudsite.Options{React: func(r cloudsite.Request) *cloudsite.Reaction {
		if r.Method == http.MethodGet && strings.HasPrefix(r.Key, cloudsite.Threads+".") && !written {
			written = true
			write(t, target, 7, small)
		}
		return nil
	}})
	write(t, target, 7, large)
	if got, err := target.Read(t.Context(), 7); err != nil || !slices.Equal(got, small) || !written {
		t.Errorf("%d relations are read: %v; written %v", len(got), err, written)
	}
	if !slices.Equal(seen(t, site, 7), small) {
		t.Error("the site has another map")
	}
}

// Properties of other programs are left alone.
func TestForeignProperties(t *testing.T) {
	site, target := play(t, cloudsite.Options{})
	others := []string{"outrigger.threads.x", "outrigger.threads.01", "outrigger.threadsx", "another.app"}
	for _, key := range others {
		site.SetProperty(7, key, `{"mine":true}`)
	}
	for _, n := range []int{1500, 2, 0} {
		write(t, target, 7, many(n, 1))
	}
	slices.Sort(others)
	if keys := site.Keys(7); !slices.Equal(keys, others) {
		t.Errorf("there is %v", keys)
	}
}

// What is not ours is not written over.
func TestUnreadableProperties(t *testing.T) {
	split := func(site *cloudsite.Site, target *jiracloud.Target) { write(t, target, 7, many(800, 1)) }
	for name, test := range map[string]struct {
		spoil func(*cloudsite.Site, *jiracloud.Target)
		why   string
	}{
		"another layout": {func(s *cloudsite.Site, _ *jiracloud.Target) { s.SetProperty(7, cloudsite.Threads, `{"11782":"11781"}`) }, "it has another layout"},
		"a text":         {func(s *cloudsite.Site, _ *jiracloud.Target) { s.SetProperty(7, cloudsite.Threads, `"mine"`) }, "it has another layout"},
		"cut off":        {func(s *cloudsite.Site, _ *jiracloud.Target) { s.SetProperty(7, cloudsite.Threads, `{"v":1,"gener`) }, "it is no JSON"},
		"nothing":        {func(s *cloudsite.Site, _ *jiracloud.Target) { s.SetProperty(7, cloudsite.Threads, ``) }, "it is no JSON"},
		"a later version": {func(s *cloudsite.Site, _ *jiracloud.Target) {
			s.SetProperty(7, cloudsite.Threads, `{"v":2,"generation":1,"zipped":"…"}`)
		}, "a later release of Outrigger has written it, in version 2; this one knows 1"},
		"a part of another map": {func(s *cloudsite.Site, target *jiracloud.Target) {
			split(s, target)
			s.SetProperty(7, cloudsite.Threads+".2", `{"v":1,"generation":9,"part":2,"parents":{}}`)
		}, "its part outrigger.threads.2 belongs to another map"},
		"a part with less in it": {func(s *cloudsite.Site, target *jiracloud.Target) {
			split(s, target)
			s.SetProperty(7, cloudsite.Threads+".2", `{"v":1,"generation":1,"part":2,"parents":{"1":"2"}}`)
		}, "its parts do not make the map that it is about"},
		"a part that is something else": {func(s *cloudsite.Site, target *jiracloud.Target) {
			split(s, target)
			s.SetProperty(7, cloudsite.Threads+".2", `[]`)
		}, "it has another layout"},
	} {
		t.Run(name, func(t *testing.T) {
			site, target := play(t, cloudsite.Options{})
			test.spoil(site, target)
			before, writes := map[string]string{}, site.Writes(7)
			for _, key := range site.Keys(7) {
				before[key], _ = site.Property(7, key)
			}
			_, readErr := target.Read(t.Context(), 7)
			_, writeErr := target.Write(t.Context(), 7, become(many(2, 1)))
			for _, err := range []error{readErr, writeErr} {
				if e := kindOf(t, err); e.Kind != threads.TargetChanged || e.Cause.Error() != test.why || !strings.Contains(e.Message, "is not as Outrigger writes it, and is left as it is") {
					t.Errorf("%v", err)
				}
			}
			for key, text := range before {
				if now, _ := site.Property(7, key); now != text {
					t.Errorf("%s is %s", key, now)
				}
			}
			if site.Writes(7) != writes {
				t.Error("it was written to")
			}
		})
	}
}

func TestNoRoom(t *testing.T) {
	site, target := play(t, cloudsite.Options{})
	write(t, target, 7, many(2, 1))
	_, err := target.Write(t.Context(), 7, become(many(50_000, 1)))
	if e := kindOf(t, err); e.Kind != threads.TargetForbids || !strings.Contains(err.Error(), "issue 7 has no room") {
		t.Error(err)
	}
	if !slices.Equal(seen(t, site, 7), many(2, 1)) {
		t.Error("the map that was there has changed")
	}
}

// Writers of one issue are one after another, and no more requests than allowed
// are under way.
func TestWritersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := cloudsite.New(account(cloudsite.Options{Latency: 10 * time.Millisecond}))
		target, err := jiracloud.New(jiracloud.Options{URL: "https://x", User: user, Token: secret.New(token), Client: direct{site.Handler()}, Requests: 3, PerSecond: 1e9})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range int64(12) {
			all.Go(func() {
				one := threads.ParentMap{{CommentID: i + 1, ParentID: 100}}
				if _, err := target.Write(t.Context(), 1+i%2, func(old threads.ParentMap) (threads.ParentMap, error) { return old.Merge(one), nil }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if c := site.Counts(); c.WritesAtOnce != 1 || c.AtOnce > 3 || c.AtOnce < 2 || len(seen(t, site, 1)) != 6 || len(seen(t, site, 2)) != 6 {
			t.Errorf("%+v; the issues have %d and %d", c, len(seen(t, site, 1)), len(seen(t, site, 2)))
		}
	})
}

// A site with the vendor's limits never has to say that it is asked too often,
// neither by many issues nor by one that is large.
func TestLimitsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := cloudsite.New(account(cloudsite.Options{Limits: cloudsite.Documented()}))
		target, err := jiracloud.New(jiracloud.Options{URL: "https://x", User: user, Token: secret.New(token), Client: direct{site.Handler()}, Requests: 50})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		var all sync.WaitGroup
		for i := range int64(400) {
			all.Go(func() { write(t, target, 1000+i, many(1, i)) })
		}
		all.Wait()
		if took := time.Since(begun); took < 8*time.Second || took > 15*time.Second {
			t.Errorf("400 writes at 40 a second took %v", took)
		}
		for n := range int64(6) {
			write(t, target, 7, many(12_000, n))
		}
		if c := site.Counts(); c.Limited != 0 || site.Writes(7) < 100 {
			t.Errorf("%+v; the large issue was written to %d times", c, site.Writes(7))
		}
	})
}

// Near the end of a quota it asks once a second, which lasts for the hour.
func TestNearTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := cloudsite.New(account(cloudsite.Options{Limits: cloudsite.Limits{Quota: 100}}))
		target := targetOf(t, direct{site.Handler()})
		for i := range int64(45) { // of two requests each
			write(t, target, 1+i, many(1, i))
		}
		if took := time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); took < 8*time.Second || took > 12*time.Second {
			t.Errorf("the last tenth before the end took %v", took)
		}
		<-time.After(time.Hour)
		if _, err := target.Read(t.Context(), 1); err != nil {
			t.Error(err)
		}
		begun := time.Now()
		if _, err := target.Read(t.Context(), 1); err != nil || time.Since(begun) > time.Second {
			t.Errorf("in the next hour: %v after %v", err, time.Since(begun))
		}
	})
}

// The end of ctx is its own error, wherever it comes.
func TestCancelled(t *testing.T) {
	_, target := play(t, cloudsite.Options{React: func(cloudsite.Request) *cloudsite.Reaction {
		return &cloudsite.Reaction{Then: cloudsite.FallSilent}
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := target.Read(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	cancel()
	if _, err := target.Write(ctx, 1, become(nil)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
