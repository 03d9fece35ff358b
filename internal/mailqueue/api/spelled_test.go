package api

import (
	"net/url"
	"testing"
)

// A message's state is taken in any case, in a query and in a body.
func TestStatesInAnyCase(t *testing.T) {
	s := newServer(t)
	for _, state := range []string{"waiting", "Waiting", "ERROR", " error"} {
		for _, path := range []string{"/messages?state=", "/count?state="} {
			w := s.do("GET", MailPath+path+url.QueryEscape(state), "admin", "application/json", "")
			if w.Code != 200 {
				t.Errorf("%s%s: %d %s", path, state, w.Code, w.Body)
			}
		}
		w := s.do("POST", MailPath+"/resend", "admin", "application/json", `{"state":"`+state+`"}`)
		if w.Code != 200 {
			t.Errorf("resend of %q: %d %s", state, w.Code, w.Body)
		}
	}
}
