package api

import (
	"bytes"
	"strings"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/message"
)

const previewPath = "/rest/mtbs/1.0/configuration/preview"

// Every event type has a card in every format, for who is signed in.
func TestPreview(t *testing.T) {
	s := newServer(t)
	for _, x := range notify.EventTypes() {
		path := previewPath + "?eventType=" + x.String()
		for _, f := range []notify.Format{notify.Teams, notify.Slack} {
			w := s.do("GET", path+"&format="+string(f), "nobody", "")
			s.want(200, w)
			if w.Header().Get("Content-Type") != "application/json" || !bytes.Equal(w.Body.Bytes(), message.Card(message.Preview(x), f)) {
				t.Errorf("%s for %s: %s", x, f, w.Body)
			}
		}
		w := s.do("GET", path+"&format=html", "nobody", "", "Accept", "text/html")
		s.want(200, w)
		h := w.Header()
		if !strings.HasPrefix(w.Body.String(), "<!DOCTYPE html>") || h.Get("Content-Type") != "text/html; charset=utf-8" ||
			!strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v %s", x, h, w.Body)
		}
	}
	if got := s.do("GET", previewPath+"?eventType=TAG_CREATED", "nobody", "").Body.String(); !strings.Contains(got, "AdaptiveCard") {
		t.Errorf("without a format: %s", got)
	}
	s.want(401, s.do("GET", previewPath+"?eventType=TAG_CREATED", "", ""))
	if got := fields(s.want(400, s.do("GET", previewPath+"?eventType=NO_SUCH&format=pdf", "nobody", ""))); got != "eventType format" {
		t.Errorf("wrong members: %q", got)
	}
}
