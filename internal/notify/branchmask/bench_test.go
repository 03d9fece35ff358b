package branchmask

import (
	"strings"
	"testing"
)

// BenchmarkBudget is what a mask costs that exhausts its budget.
func BenchmarkBudget(b *testing.B) {
	branch := strings.Repeat("a", 10_000)
	for _, d := range dialects() {
		for _, pattern := range []string{`(a+)+(?=b)`, `(a|a)*\1c`, `(?:a|(?=a)a)*(?=b)`} {
			m, err := d.compile(pattern)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(d.name+"/"+pattern, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Match(branch); err != ErrBudget {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkMatch is what sensible masks cost.
func BenchmarkMatch(b *testing.B) {
	for _, pattern := range []string{`^(?:feature|hotfix)/[A-Z]+-\d+.*$`, `(?!main$|master$).*`, `.*(?<!wip)`} {
		m, err := Java(pattern)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Match("feature/ABC-123-sign-in-with-a-passkey"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
