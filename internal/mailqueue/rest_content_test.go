package mailqueue

import (
	"net/http"
	"testing"
)

// The bytes of a message are a file, not a page.
func TestContent(t *testing.T) {
	s := newServer(t)
	s.relay.messages = someMessages()
	w := s.do("GET", mailPath+"/messages/1/content", "admin", "application/json", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "message/rfc822" || w.Header().Get("Content-Disposition") != `attachment; filename="message-1.eml"` ||
		w.Body.String() != "Subject: <b>x</b>\r\n\r\nbytes \xff\r\n" {
		t.Errorf("%d %v %q", w.Code, w.Header(), w.Body)
	}
	if w := s.do("GET", mailPath+"/messages/9/content", "root", "", ""); w.Code != http.StatusNotFound || len(s.relay.did) != 1 {
		t.Errorf("%d, %v", w.Code, s.relay.did)
	}
}
