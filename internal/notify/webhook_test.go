package notify

import "testing"

func TestFreeHookNameIsNotTaken(t *testing.T) {
	scope := Scope{ProjectKey: "ATL", RepositoryKey: "Card_Reader"}
	var hooks []*Hook
	for _, want := range []string{"atl-card-reader", "atl-card-reader-6b4af346", "atl-card-reader-6b4af346-2", "atl-card-reader-6b4af346-3"} {
		name := NewPlatforms(1, new(Connections), Connections{{Name: "code"}}, hooks, nil).FreeHookName("code", scope)
		if name != want {
			t.Errorf("beside %d hooks: %s, want %s", len(hooks), name, want)
		}
		hooks = append(hooks, &Hook{Connection: "code", Name: name, Scope: scope})
	}
}
