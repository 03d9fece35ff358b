package notify

import (
	"testing"
	"time"

	"outrigger/internal/identity"
)

// Who made a channel has it for as long as they administer anything.
func TestWhoMadeAChannelAndHasNoPermissionLeft(t *testing.T) {
	at := identity.Resource{Connection: "dc", Project: "ATL"}
	for _, c := range []struct {
		name string
		who  *identity.Principal
		want bool
	}{
		{"its maker", &identity.Principal{UserID: 7, Grants: []identity.Grant{{Permission: identity.ProjectAdmin, Resource: at}}}, true},
		{"another", &identity.Principal{UserID: 8, Grants: []identity.Grant{{Permission: identity.ProjectAdmin, Resource: at}}}, false},
		{"its maker without permissions", &identity.Principal{UserID: 7}, false},
		{"a stranger", nil, false},
	} {
		channel := ChannelInfo{OwnerID: 7, Kept: true}
		if sees, changes := channel.VisibleTo(c.who), channel.ChangeableBy(c.who); sees != c.want || changes != c.want {
			t.Errorf("%s sees it: %v, changes it: %v", c.name, sees, changes)
		}
	}
}

func TestWhatIsTriedAgainAddsUp(t *testing.T) {
	now := time.Now()
	failing := func(waiting, held int, until time.Duration) *ChannelInfo {
		return &ChannelInfo{Channel: Channel{State: Open, FailingSince: now, GateStep: 1, GateUntil: now.Add(until), Waiting: waiting}, Held: held}
	}
	broken, fine := failing(5, 0, time.Minute), failing(5, 0, 0)
	broken.State, fine.FailingSince = Broken, time.Time{}
	var r Retrying
	for _, c := range []*ChannelInfo{broken, fine, failing(0, 0, time.Minute), failing(4, 1, time.Minute), failing(2, 0, 20*time.Second), failing(3, 3, -time.Second)} {
		r.Add(c, now)
	}
	if want := (Retrying{Channels: 2, Messages: 5, Next: now.Add(20 * time.Second)}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}
