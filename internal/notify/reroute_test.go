package notify

import "testing"

func TestReroute(t *testing.T) {
	teams := func(channel int64) Destination { return Destination{channel, Teams} }
	slack := func(channel int64) Destination { return Destination{channel, Slack} }
	targets := map[int64]RuleTarget{1: {teams(10), true}, 2: {teams(20), true}, 3: {teams(30), true}, 4: {teams(10), false}, 6: {slack(10), true}}
	for _, c := range []struct {
		name  string
		rules []int64
		now   Destination
		want  Destination
	}{
		{"its rule sends there still", []int64{1}, teams(10), teams(10)},
		{"one of its rules sends there still", []int64{2, 1}, teams(10), teams(10)},
		{"its rule sends elsewhere now", []int64{2}, teams(10), teams(20)},
		{"its rule sends elsewhere now, in another format", []int64{2}, slack(10), teams(20)},
		{"the first of two that send elsewhere", []int64{3, 2}, teams(10), teams(30)},
		{"its rule has another format now", []int64{6}, teams(10), slack(10)},
		{"one of its rules has another format now", []int64{6, 1}, teams(10), teams(10)},
		{"one has another format, another sends elsewhere", []int64{2, 6, 3}, teams(10), slack(10)},
		{"its rule is disabled", []int64{4}, teams(10), Destination{}},
		{"its rule is disabled, another sends elsewhere", []int64{4, 2}, teams(10), teams(20)},
		{"its rule is deleted", []int64{5}, teams(10), Destination{}},
		{"it has no rules", nil, teams(10), Destination{}},
	} {
		if got := Reroute(c.rules, targets, c.now); got != c.want {
			t.Errorf("%s: to %v, want %v", c.name, got, c.want)
		}
	}
}
