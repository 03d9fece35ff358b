package store_test

import (
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
)

// A form names a channel by its name, its number or both, as those find it who may
// choose it; a name that several have is no channel.
func TestChannelsAreNamed(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		for i, c := range []struct{ name, project string }{{"reviews", "ATL"}, {"Réviews %_", "ATL"}, {"builds", "ATL"}, {"builds", "PAC"}, {"builds #3", "PAC"}, {"7", "PAC"}} {
			r := store.SomeRule(fmt.Sprint("rule ", i))
			r.ProjectKey, r.ChannelName = c.project, c.name
			store.Save(t, s, r, store.FlowURL(fmt.Sprint(i)))
		}
		channels := admin.Channels{Store: s}
		for _, c := range []struct {
			user, text string
			want       int64  // 0: none
			says       string // why there is none
		}{
			{"admin", "Reviews", 1, ""}, {"admin", " reviews ", 1, ""}, {"admin", "1", 1, ""}, {"admin", "#1", 1, ""}, {"admin", "REVIEWS #1", 1, ""},
			{"admin", "an older name #1", 1, ""}, {"admin", "Réviews %_", 2, ""}, {"admin", "7", 6, ""},
			{"admin", "builds #3", 3, ""}, {"admin", "builds #4", 4, ""}, {"admin", "builds #3 #5", 5, ""},
			{"admin", "builds", 0, "Several channels are called builds. Choose one from the list, or add its number: builds #3."},
			{"admin", "review", 0, "You have no channel that is called review."}, {"admin", "99", 0, "This channel was deleted"}, {"admin", "%", 0, "You have no channel"},
			{"project", "builds", 3, ""}, {"project", "4", 0, "This channel was deleted, or you may not choose it any more."}, {"project", "builds #4", 0, "This channel was deleted, or you may not"},
			{"repo", "reviews", 0, "You have no channel"},
		} {
			who, err := identitytest.Everybody().Basic(t.Context(), c.user, "", "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := channels.Named(identity.With(t.Context(), who), c.text)
			var said string
			if fault.Is(err, fault.Invalid) {
				said = fault.As(err).Fields[0].Message
			}
			if got.ID != c.want && err == nil || (err != nil) != (c.want == 0) || !strings.HasPrefix(said, c.says) || c.says == "" && said != "" {
				t.Errorf("%s, %q: channel %d, %v, want %d, %s", c.user, c.text, got.ID, err, c.want, c.says)
			}
		}
		find := func(user, text string, limit int) string {
			t.Helper()
			who, err := identitytest.Everybody().Basic(t.Context(), user, "", "")
			if err != nil {
				t.Fatal(err)
			}
			found, more, err := channels.Found(identity.With(t.Context(), who), text, limit)
			if err != nil {
				t.Error(err)
			}
			var names []string
			for _, f := range found {
				names = append(names, f.Value)
			}
			if more {
				names = append(names, "…")
			}
			return strings.Join(names, ", ")
		}
		for _, c := range []struct{ user, text, want string }{
			{"admin", "", "7 #6, builds #3, builds #4, builds #3 #5, reviews #1, Réviews %_ #2"}, {"admin", "BUILD", "builds #3, builds #4, builds #3 #5"}, {"admin", "%_", "Réviews %_ #2"},
			{"admin", "reviews #1", "reviews #1"}, {"admin", "3", "builds #3, builds #3 #5"}, {"project", "build", "builds #3"}, {"project", "4", ""}, {"repo", "", ""},
		} {
			if got := find(c.user, c.text, 50); got != c.want {
				t.Errorf("%s finds %q for %q, want %q", c.user, got, c.text, c.want)
			}
		}
		if got := find("admin", "build", 1); got != "builds #3, …" {
			t.Errorf("one is %q", got)
		}
	})
}

func TestTextsOfChannels(t *testing.T) {
	for text, want := range map[string][2]string{
		"reviews": {"reviews", ""}, "7": {"", "7"}, "#7": {"", "7"}, "reviews #7": {"reviews", "7"}, "team 3": {"team 3", ""}, "a#7": {"a#7", ""}, "a #b": {"a #b", ""},
		"x #-1": {"x #-1", ""}, "": {"", ""}, "#": {"#", ""}, "a #1 #2": {"a #1", "2"}, "#99999999999999999999": {"#99999999999999999999", ""},
	} {
		if name, number := notify.CutChannel(text); [2]string{name, number} != want {
			t.Errorf("%q is %q and %q", text, name, number)
		}
	}
}
