package notify

import "testing"

func TestReroute(t *testing.T) {
	targets := map[int64]RuleTarget{1: {10, true}, 2: {20, true}, 3: {30, true}, 4: {10, false}}
	for _, c := range []struct {
		name  string
		rules []int64
		now   int64
		want  int64
	}{
		{"its rule sends there still", []int64{1}, 10, 10},
		{"one of its rules sends there still", []int64{2, 1}, 10, 10},
		{"its rule sends elsewhere now", []int64{2}, 10, 20},
		{"the first of two that send elsewhere", []int64{3, 2}, 10, 30},
		{"its rule is disabled", []int64{4}, 10, 0},
		{"its rule is disabled, another sends elsewhere", []int64{4, 2}, 10, 20},
		{"its rule is deleted", []int64{5}, 10, 0},
		{"it has no rules", nil, 10, 0},
	} {
		if got := Reroute(c.rules, targets, c.now); got != c.want {
			t.Errorf("%s: to channel %d, want %d", c.name, got, c.want)
		}
	}
}
