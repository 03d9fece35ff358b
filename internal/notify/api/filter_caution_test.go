package api

import (
	"fmt"
	"strings"
	"testing"
)

// The answer to a save says what the name server says about the URL's host.
func TestASaveCautionsAboutTheURL(t *testing.T) {
	s := newServer(t)
	body := `{"name":"x","eventTypes":["TAG_CREATED"],"webhookUrl":"https://%s.example.com/hooks/abcdef"}`
	if w := s.do("POST", filterPath, "admin", fmt.Sprintf(body, "loopback")); w.Code != 201 || !strings.Contains(w.Body.String(), `"warnings":[{"field":"webhookUrl","message":"loopback.example.com is 127.0.0.1."}]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.do("POST", filterPath, "admin", fmt.Sprintf(body, "chat")); w.Code != 201 || strings.Contains(w.Body.String(), "warnings") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
