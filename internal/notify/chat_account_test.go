package notify

import (
	"strings"
	"testing"

	"outrigger/internal/fault"
)

func TestChatAccountIDs(t *testing.T) {
	for _, c := range []struct{ teams, slack, wrong string }{
		{"ada@example.com", "", ""},
		{"ada.o'neil+x@sub.example.co.uk", "U012AB3CD", ""},
		{"3f2504e0-4f89-11d3-9a0c-0305e82c3301", "", ""},
		{"", "W012AB3CD", ""},
		{"", "", "teams"},
		{"ada", "", "teams"},
		{"ada@example", "", "teams"},
		{"<at>x</at>@example.com", "", "teams"},
		{"ada@example.com\n", "", "teams"},
		{"ada@example.com\" ,\"x", "", "teams"},
		{strings.Repeat("a", 110) + "@example.com", "", "teams"},
		{"3f2504e0-4f89-11d3-9a0c-0305e82c330", "", "teams"},
		{"", "ada", "slack"},
		{"", "u012ab3cd", "slack"},
		{"", "!channel", "slack"},
		{"", "C012AB3CD", "slack"},
		{"", "U012AB3CD>", "slack"},
		{"nobody", "nobody", "teams slack"},
	} {
		a := ChatAccount{Connection: "dc", User: "ada", Teams: c.teams, Slack: c.slack}
		var wrong []string
		if err := a.Validate(); err != nil {
			for _, f := range fault.As(err).Fields {
				wrong = append(wrong, f.Name)
			}
		}
		if got := strings.Join(wrong, " "); got != c.wrong {
			t.Errorf("%q, %q: wrong are %q, want %q", c.teams, c.slack, got, c.wrong)
		}
	}
}

// Who caused the event is not told of it, nor anybody of what is no pull request.
func TestMentioned(t *testing.T) {
	e := Event{Actor: User{Name: "Grace"}, Reviewers: []User{{Name: "grace"}, {Name: "alan"}}}
	if got := e.Mentioned(); got != nil {
		t.Errorf("without a pull request: %v", got)
	}
	e.PullRequest = &PullRequest{ID: 1}
	if got := e.Mentioned(); len(got) != 1 || got[0].Name != "alan" {
		t.Errorf("mentioned are %v", got)
	}
}
