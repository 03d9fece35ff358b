package identity

import (
	"testing"

	"outrigger/internal/fault"
)

func TestRequire(t *testing.T) {
	at := Resource{Connection: "c", Project: "P"}
	nobody, ann := t.Context(), With(t.Context(), &Principal{Name: "ann"})
	boss := With(t.Context(), &Principal{Name: "boss", Grants: []Grant{{Permission: SysAdmin}}})
	for _, c := range []struct {
		err  error
		want fault.Code
	}{
		{Require(nobody, ProjectAdmin, at), fault.Unauthenticated},
		{Require(ann, ProjectAdmin, at), fault.Forbidden},
		{Require(boss, ProjectAdmin, at), ""},
		{Missing(boss, "There is no rule %d.", 5), fault.NotFound},
		{Missing(ann, "There is no rule %d.", 5), fault.Forbidden},
	} {
		if fault.CodeOf(c.err) != c.want {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
	if foreign, missing := Require(ann, ProjectAdmin, at), Missing(ann, "There is none."); foreign.Error() != missing.Error() {
		t.Errorf("who may not see it can tell what is foreign (%v) from what is missing (%v)", foreign, missing)
	}
}
