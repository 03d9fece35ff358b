package notify

import (
	"testing"

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
