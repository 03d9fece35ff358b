package notify

import "testing"

func TestEveryEventTypeIsNamed(t *testing.T) {
	if eventTypeCount > 64 {
		t.Fatal("TypeSet holds 64 types")
	}
	for _, e := range EventTypes() {
		if e.String() == "" || e.Name() == "" || e.Category() == "" || len(e.Editions()) == 0 {
			t.Errorf("event type %d lacks a key, a name, a category or an edition", e)
		}
		if back, ok := ParseEventType(e.String()); !ok || back != e {
			t.Errorf("%s does not read back", e)
		}
	}
	var e EventType
	if err := e.UnmarshalText([]byte("NO_SUCH")); err == nil {
		t.Error("an unknown key was read")
	}
}

func TestTypeSetKeepsOrder(t *testing.T) {
	got := NewTypeSet(TagCreated, BranchCreated, TagCreated).Types()
	if len(got) != 2 || got[0] != BranchCreated || got[1] != TagCreated {
		t.Errorf("got %v", got)
	}
}
