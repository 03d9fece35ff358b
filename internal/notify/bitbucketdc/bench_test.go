package bitbucketdc

import (
	"testing"
	"time"

	"outrigger/internal/playground/samples"
)

func sample(t testing.TB, name string, seq int64) (key string, body []byte) {
	t.Helper()
	for _, s := range samples.Samples() {
		if s.Name == name {
			return s.EventKey, s.Render(seq, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
		}
	}
	t.Fatalf("no sample is called %s", name)
	return "", nil
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"pull-request-opened", "pull-request-commented", "branch-pushed"} {
		b.Run(name, func(b *testing.B) {
			key, body := sample(b, name, 3)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Decode(key, body, samples.BaseURL); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
