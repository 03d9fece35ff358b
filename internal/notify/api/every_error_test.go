package api

import "testing"

// A member that cannot be read does not hide what is wrong with the others.
func TestEveryErrorIsNamedAtOnce(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ path, body, want string }{
		{buildPath, `{"state":"NOPE","key":"","bogus":1}`, "bogus state key"},
		{buildPath, `{"state":"FAILED","key":"unit","bogus":1}`, "bogus"},
		{connectionsPath + "/dc/hooks", `{"name":"No Name","repositoryKey":"canoe","bogus":1}`, "bogus name projectKey"},
		{connectionsPath + "/dc/hooks", `{"name":"canoe","bogus":1}`, "bogus"},
	} {
		if got := fields(s.want(400, s.do("POST", c.path, "root", c.body))); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.path, c.body, got, c.want)
		}
	}
}
