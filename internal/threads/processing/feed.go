package processing

import (
	"context"
	"time"

	"outrigger/internal/threads"
)

// task is one issue that the target is asked about.
type task struct {
	issue int64 // in the cloud: one at a time is asked about it, in their order
	// ask asks the target; nil where there is nothing to ask.
	ask func(context.Context) (threads.ParentMap, error)

	// Once it is done:
	parents threads.ParentMap
	again   int64                 // records that are tried once more
	closing []int64               // comments whose relations the issue did not get: they would close a cycle
	kept    bool                  // relations that were changed since it was written were not undone
	refused threads.TargetFailure // TargetMissing, TargetForbids or TargetChanged where failed
	answer  threads.Answer        // what the target said then
	failed  bool

	broken error // of the database, while the target was asked: nothing was written

	chunk *threads.Chunk // where the feed took it from
	place int
	name  threads.IssueName // where a comparison knows it

	state    taskState
	held     bool // a refusal that may turn out to be about us, and not about the issue
	probe    bool // it is asked only to find that out
	failures int
	due      time.Time
}

// at is where the task's issue is in the data.
func (t *task) at() threads.Place {
	return threads.Place{Chunk: t.chunk.Number, Issue: int64(t.place)}
}

type taskState uint8

const (
	waiting taskState = iota
	underWay
	done
)

// feed returns tasks and stores what became of them.
type feed interface {
	// next returns the next task, nil after the last one.
	next(ctx context.Context) (*task, error)
	// keep stores tasks that are done, in their order, how often the target was
	// asked in vain since the last call, and the pace. ahead is what came of tasks
	// that went well and will come again, since one before them is not done.
	keep(ctx context.Context, tasks []*task, ahead []threads.IssueMap, retried int64, pace threads.Pace) error
	// about says for the log what the work is and how far it is.
	about() []any
	// wanted is threads.ErrOvertaken when the work was stopped.
	wanted(ctx context.Context) error
}

// data is the data set that the work is about.
type data struct{ stage, chunks int64 }
