package samples

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"outrigger/internal/notify/payload"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestSamplesAreBodies(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Samples() {
		if names[s.Name] {
			t.Errorf("two samples are called %s", s.Name)
		}
		names[s.Name] = true
		for _, seq := range []int64{0, 1, 7, -3, 1<<63 - 1} {
			body := s.Render(seq, noon)
			r := payload.New(body)
			r.Skip()
			if err := r.End(); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
			var head struct{ EventKey, Date string }
			if err := json.Unmarshal(body, &head); err != nil || head.EventKey != s.EventKey || head.Date != "2026-11-20T12:00:00+0000" {
				t.Errorf("%s says %+v (%v)", s.Name, head, err)
			}
			if !bytes.Equal(body, s.Render(seq, noon)) {
				t.Errorf("%s of %d is not the same twice", s.Name, seq)
			}
		}
		if bytes.Equal(s.Render(1, noon), s.Render(2, noon)) {
			t.Errorf("%s does not vary", s.Name)
		}
	}
}

func TestPullRequestSampleHasTheUsualSize(t *testing.T) {
	for _, s := range Samples() {
		if s.Name == "pull-request-opened" {
			if n := len(s.Render(3, noon)); n < 4500 || n > 5600 {
				t.Errorf("it has %d bytes, about 5,000 are usual", n)
			}
		}
	}
}

func TestBothStylesOfTime(t *testing.T) {
	opened := Samples()[5]
	if body := opened.Render(2, noon); !bytes.Contains(body, []byte(`"updatedDate":1795176000000,`)) {
		t.Errorf("no milliseconds in %s", body)
	}
	if body := opened.Render(3, noon); !bytes.Contains(body, []byte(`"updatedDate":"2026-11-20T12:00:00.000Z",`)) {
		t.Errorf("no ISO 8601 in %s", body)
	}
}
