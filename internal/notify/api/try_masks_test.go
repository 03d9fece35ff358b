package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const tryBranchPath = "/rest/mtbs/1.0/configuration/filter/try-branch"

func TestTryMasks(t *testing.T) {
	s := newServer(t)
	w := s.do("POST", tryBranchPath, "admin", `{"branchMask":"release/(?!old).*","ignoredBranchMask":"wip/.*","names":["release/1","release/old","wip/a,b é"]}`)
	want := `[{"member":"branchMask","deferred":true,"warnings":[],"branches":[{"branch":"release/1","match":true},{"branch":"release/old","match":false},{"branch":"wip/a,b é","match":false}]},` +
		`{"member":"ignoredBranchMask","deferred":false,"warnings":[],"branches":[{"branch":"release/1","match":false},{"branch":"release/old","match":false},{"branch":"wip/a,b é","match":true}]}]`
	var got, wanted any
	if json.Unmarshal(w.Body.Bytes(), &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil || fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Errorf("%d %s; want %s", w.Code, w.Body, want)
	}
	long := strings.Repeat("a", 10_000)
	w = s.do("POST", tryBranchPath, "admin", fmt.Sprintf(`{"branchMask":"(a+)+(?=b)","names":[%q]}`, long))
	if w.Code != 200 || !strings.Contains(w.Body.String(), "too many steps") {
		t.Errorf("a mask that takes too many steps: %d %.200s", w.Code, w.Body)
	}
	for body, want := range map[string]string{
		`{"names":["main"]}`: "branchMask",
		`{"branchMask":"(","ignoredBranchMask":"[","sourceBranchMask":"a","names":[]}`: "names branchMask ignoredBranchMask",
		`{"branchMask":"a","names":["` + long + `x"]}`:                                 "names",
		`{"branchMask":"a","names":["` + strings.Repeat(`a","`, 20) + `a"]}`:           "names",
		`{"branchMask":"` + long + `a","names":["a"]}`:                                 "branchMask",
	} {
		if got := fields(s.want(400, s.do("POST", tryBranchPath, "admin", body))); got != want {
			t.Errorf("%.60s: %q, want %q", body, got, want)
		}
	}
	if w := s.do("POST", tryBranchPath, "", `{"branchMask":"a","names":["a"]}`); w.Code != 401 {
		t.Errorf("nobody: %d", w.Code)
	}
	// Every user may ask; the longest mask is a rule's, too.
	longest := strings.Repeat("a", 9_990) + "(?=b)?"
	s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, `,"branchMask":"`+longest+`"`)))
}
