package smtpd

import (
	"sync"
	"time"
)

const (
	// guessPenalty is how long the reply to a wrong guess is kept back, times the
	// number of those from its address.
	guessPenalty = time.Second

	// maxGuessWait bounds that number: clients give a reply up after 30 s to 5 min,
	// and each one that waits has a place.
	maxGuessWait = 20

	// guessMemory is how long after its last wrong guess an address is one like
	// all others.
	guessMemory = 10 * time.Minute
)

// guesses counts wrong guesses by address, since a new connection costs a
// client nothing.
type guesses struct {
	mu        sync.Mutex
	byNetwork map[string]*guessCount
	swept     time.Time
}

type guessCount struct {
	n    int
	last time.Time
}

func newGuesses() *guesses { return &guesses{byNetwork: map[string]*guessCount{}} }

// add counts a wrong guess and says which of its address it is, at most
// maxGuessWait.
func (g *guesses) add(address string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if now.Sub(g.swept) >= guessMemory {
		g.swept = now
		for key, c := range g.byNetwork {
			if now.Sub(c.last) >= guessMemory {
				delete(g.byNetwork, key)
			}
		}
	}
	key := network(address)
	c := g.byNetwork[key]
	if c == nil || now.Sub(c.last) >= guessMemory {
		c = &guessCount{}
		g.byNetwork[key] = c
	}
	c.n, c.last = min(c.n+1, maxGuessWait), now
	return c.n
}
