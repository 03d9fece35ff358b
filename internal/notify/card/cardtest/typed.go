package cardtest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// typed are texts of users that have markup of some chat platform, or nearly.
var typed = rapid.OneOf(
	rapid.SampledFrom([]string{
		"*bold*", "**bold**", "_italic_", "__init__", "~gone~", "~~gone~~", "`code`", "```code```", "a*b*c", "snake_case_name",
		"<!channel>", "<!here|x>", "<@U012AB3CD>", "<#C012AB3CD>", "<https://h|x>", "&lt;b&gt;", "&amp;amp;", "<b>", "<at>Ada</at>",
		"[x](https://h)", "![x](https://h)", "{{DATE(2026-11-23T00:00:00Z)}}", "# heading", "- item", "1. item", "> quote", "a \\* b", ":smile:",
	}),
	rapid.Map(rapid.StringOfN(rapid.SampledFrom([]rune("*_~`<>&!@#|[](){}\\-+.:;/=\"'ab1é ")), 1, 20, -1), func(s string) string {
		if s = strings.Join(strings.Fields(s), " "); s == "" {
			return "*"
		}
		return s
	}),
)

func (f Format) typed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := typed.Draw(t, "typed")
		c := card.Card{
			Title: "Ada said " + s, Branch: s, Facts: []notify.Fact{{Name: "File", Value: s}, {Name: s, Value: "x"}}, Text: s,
			Commits: []card.Commit{{ID: "0f1d2e3c4b", Message: s, Author: s, URL: "https://h/1"}, {ID: "1f1d2e3c4b", Message: s}},
			Items:   []card.Item{{Title: s, URL: "https://h/2", Detail: s}, {Title: s, Detail: "x"}},
			Links:   []card.Link{{Title: s, URL: "https://h/3"}},
		}
		message := f.Card(c)
		f.Check(t, message)
		f.hasTyped(t, message, s, 12)
	})
}

func (f Format) typedDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := typed.Draw(t, "typed")
		var events []*notify.Event
		for _, url := range []string{"https://h/1", "https://h/2", ""} {
			events = append(events, &notify.Event{
				Types: []notify.EventType{notify.PullRequestOpened}, Actor: notify.User{Name: s}, Project: notify.Project{Key: "P"},
				Repository: notify.Repository{Key: s}, PullRequest: &notify.PullRequest{ID: 7, Title: s}, URL: url,
			})
		}
		message, _ := f.Digest(events, nil)
		f.Check(t, message)
		f.hasTyped(t, message, s, 8) // the title, the group, and who and what of each
	})
}

// hasTyped fails t where a message does not show a text in n places at least.
func (f Format) hasTyped(t *rapid.T, message []byte, s string, n int) {
	if shown := f.Shown(t, message); strings.Count(shown, s) < n {
		t.Fatalf("%q is shown %d times, want %d:\n%s\n%s", s, strings.Count(shown, s), n, shown, message)
	}
}
