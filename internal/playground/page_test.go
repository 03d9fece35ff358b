package playground

import "testing"

// The page offers the webhook URL of a channel that has no message yet, so that a
// channel whose webhook is gone can be given another one.
func TestTheOfferedChannelIsNew(t *testing.T) {
	for _, c := range []struct {
		used []string
		want string
	}{
		{nil, "my-team"},
		{[]string{"pushes"}, "my-team"},
		{[]string{"pushes", "my-team"}, "my-team-2"},
		{[]string{"my-team", "my-team-2", "my-team-3"}, "my-team-4"},
	} {
		channels := map[string][]Message{}
		for _, name := range c.used {
			channels[name] = make([]Message, 1)
		}
		if got := ownChannel(channels); got != c.want {
			t.Errorf("with %q: %q, want %q", c.used, got, c.want)
		}
	}
}
