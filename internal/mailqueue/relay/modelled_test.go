package relay

import (
	"slices"

	"outrigger/internal/mailqueue"
)

// modelled is what the queue is to be: a message's recipients by its id.
type modelled map[int64][]modelRecipient

type modelRecipient struct {
	state    mailqueue.State
	attempts int
	later    bool // it waits for an hour, which does not pass here
}

func (m modelled) has(id int64, state mailqueue.State) bool {
	return slices.ContainsFunc(m[id], func(r modelRecipient) bool { return r.state == state })
}

func (m modelled) sizes() (s mailqueue.Sizes) {
	for id := range m {
		if m.has(id, mailqueue.Waiting) {
			s.Size++
		}
		if m.has(id, mailqueue.Failed) {
			s.ErrorSize++
		}
	}
	return s
}

func (m modelled) due(id int64) (turn []int) {
	for i, r := range m[id] {
		if r.state == mailqueue.Waiting && !r.later {
			turn = append(turn, i)
		}
	}
	return turn
}

// settle forgets a message that has every recipient.
func (m modelled) settle(id int64) {
	if !m.has(id, mailqueue.Waiting) && !m.has(id, mailqueue.Failed) {
		delete(m, id)
	}
}

func (m modelled) ids(which func(id int64) bool) (ids []int64) {
	for id := range m {
		if which(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
