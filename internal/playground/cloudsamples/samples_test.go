package cloudsamples

import (
	"bytes"
	"testing"
	"time"

	"outrigger/internal/notify/payload"
)

func TestSamplesAreBodies(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	names := map[string]bool{}
	for _, s := range Samples() {
		if names[s.Name] {
			t.Errorf("two samples are called %s", s.Name)
		}
		names[s.Name] = true
		body := s.Render(Engine, 3, noon)
		r := payload.New(body)
		r.Skip()
		if err := r.End(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if !bytes.Equal(body, s.Render(Engine, 3, noon)) {
			t.Errorf("%s is not the same twice", s.Name)
		}
		if bytes.Equal(body, s.Render(Engine, 4, noon)) {
			t.Errorf("%s does not vary", s.Name)
		}
		if s.Name != "project-renamed" && !bytes.Contains(body, []byte(`"atlas/engine`)) {
			t.Errorf("%s is of another place", s.Name)
		}
	}
}
