package secret

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const workflow = "https://prod-12.westeurope.logic.azure.com:443/workflows/0123456789abcdef0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=AbC-dEf_123"

func TestMaskURL(t *testing.T) {
	for _, c := range []struct{ raw, masked string }{
		{workflow, "https://prod-12.westeurope.logic.azure.com:443/…/invoke?…sig=••••"},
		{"https://e1.07.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/ab/triggers/manual/paths/invoke?api-version=1&sig=x", "https://e1.07.environment.api.powerplatform.com:443/…/invoke?…sig=••••"},
		{"https://hooks.slack.com/services/T000/B000/XXXXXXXX", "https://hooks.slack.com/…"},
		{"https://chat.example.com/hooks/abcdefgh", "https://chat.example.com/…"},
		{"https://chat.example.com/invoke?token=abcdefgh", "https://chat.example.com/…?…"},
		{"https://chat.example.com/?a=1;sig=abc", "https://chat.example.com?…"},
		{"https://chat.example.com", "https://chat.example.com"},
		{"https://user:pass@chat.example.com/x#frag", "https://chat.example.com/…"},
		{"http://[::1]:8080/x", "http://[::1]:8080/…"},
		{"", "••••"},
		{"hunter2", "••••"},
		{"https:hunter2", "••••"},
		{"https://host/%zz?sig=1", "••••"},
		{"••••", "••••"},
	} {
		if got := MaskURL(c.raw); got != c.masked {
			t.Errorf("MaskURL(%q) = %s, want %s", c.raw, got, c.masked)
		}
	}
}

func TestMaskShowsNothingAndIsRecognised(t *testing.T) {
	word := rapid.StringMatching(`[A-Z0-9_-]{6,40}`) // upper case, which no host has
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOfN(word, 1, 5).Draw(t, "path")
		query := rapid.SliceOfN(word, 1, 5).Draw(t, "query")
		raw := "https://" + rapid.StringMatching(`[a-z]{1,20}\.example`).Draw(t, "host") + "/" + strings.Join(path, "/")
		if rapid.Bool().Draw(t, "workflow") {
			raw += "/invoke"
		}
		raw += "?sig=" + strings.Join(query, "&x=")
		mask := MaskURL(raw)
		for _, s := range append(path, query...) {
			if strings.Contains(mask, s) {
				t.Fatalf("%s shows %s", mask, s)
			}
		}
		if MaskURL(raw) != mask || MaskURL(mask) != mask {
			t.Fatalf("the mask %s is not stable: %s", mask, MaskURL(mask))
		}
		if !IsMask(mask) || IsMask(raw) {
			t.Fatalf("IsMask does not tell %s from %s", mask, raw)
		}
	})
	if !IsMask("https://host/%E2%80%A6/invoke?%E2%80%A6sig=%E2%80%A2%E2%80%A2%E2%80%A2%E2%80%A2") {
		t.Error("a mask that came percent-encoded is not recognised")
	}
}

func FuzzMaskURL(f *testing.F) {
	f.Add(workflow)
	f.Add("https://user:pass@host:1/a?b#c")
	f.Fuzz(func(t *testing.T, raw string) {
		if mask := MaskURL(raw); MaskURL(mask) != mask {
			t.Errorf("mask %q of %q is not stable: %q", mask, raw, MaskURL(mask))
		}
	})
}
