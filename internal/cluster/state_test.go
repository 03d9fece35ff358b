package cluster

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func states() []State { return []State{Activating, Active, Passivating, Passive, Offline} }

func events() []event {
	return []event{begins, beats, ready, drained, emptied, resumed, stops, silent}
}

func TestStates(t *testing.T) {
	// What each event makes of ACTIVATING, ACTIVE, PASSIVATING, PASSIVE and
	// OFFLINE; "" is refused.
	for e, want := range map[event][5]State{
		begins:  {Activating, Activating, Activating, Activating, Activating},
		beats:   {Activating, Active, Passivating, Passive, Activating},
		ready:   {Active, Active, Passivating, Passive, Offline},
		drained: {"", Passivating, "", "", ""},
		emptied: {"", "", Passive, "", ""},
		resumed: {"", "", Active, Active, ""},
		stops:   {Offline, Offline, Offline, Offline, Offline},
		silent:  {Offline, Offline, Offline, Offline, Offline},
	} {
		for i, from := range states() {
			to, allowed := next(from, e)
			if allowed != (want[i] != "") || allowed && to != want[i] || !allowed && to != from {
				t.Errorf("%s %s: %s %v, want %q", from, e, to, allowed, want[i])
			}
		}
	}
}

func TestAnyHistoryKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := Offline
		isDrained := false // an administrator's word, in force
		for _, e := range rapid.SliceOf(rapid.SampledFrom(events())).Draw(t, "events") {
			to, allowed := next(state, e)
			switch {
			case !slices.Contains(states(), to):
				t.Fatalf("%s %s leads to %s", state, e, to)
			case !allowed && to != state:
				t.Fatalf("%s %s is refused and leads to %s", state, e, to)
			}
			if allowed && e == drained {
				isDrained = true
			}
			if allowed && (e == resumed || e == begins || to == Offline) {
				isDrained = false
			}
			if isDrained != (to == Passivating || to == Passive) {
				t.Fatalf("%s %s: %s while drained is %v", state, e, to, isDrained)
			}
			state = to
		}
	})
}
