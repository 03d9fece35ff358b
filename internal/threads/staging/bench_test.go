package staging

import (
	"math/rand/v2"
	"testing"

	"outrigger/internal/threads/threadstest"
)

func BenchmarkStage(b *testing.B) {
	for _, order := range []string{"sorted", "shuffled"} {
		b.Run(order, func(b *testing.B) {
			records, mappings := threadstest.Many(1_000_000, 5)
			if order == "shuffled" {
				rnd := rand.New(rand.NewPCG(3, 4))
				rnd.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
				rnd.Shuffle(len(mappings), func(i, j int) { mappings[i], mappings[j] = mappings[j], mappings[i] })
			}
			hierarchy, csv := threadstest.Hierarchy(records), threadstest.CSV(mappings)
			for b.Loop() {
				o, _ := options(hierarchy, csv, 0)
				if _, err := Stage(b.Context(), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
