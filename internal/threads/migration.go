package threads

import (
	"slices"
	"strings"
	"time"

	"outrigger/internal/fault"
)

// Status is what the seed's five words say of a migration.
type Status string

// The statuses.
const (
	Idle       Status = "IDLE"
	InProgress Status = "IN_PROGRESS"
	Completed  Status = "COMPLETED"
	Failed     Status = "FAILED"
	Cancelled  Status = "CANCELLED"
)

// Values are the statuses.
func (Status) Values() []string {
	return names([]Status{Idle, InProgress, Completed, Failed, Cancelled})
}

// names are texts of some kind as texts.
func names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// Phase says more than Status.
type Phase string

// The phases: four of IDLE, and one of each other status.
const (
	PhaseEmpty      Phase = "EMPTY"   // nothing is loaded
	PhaseLoading    Phase = "LOADING" // drafts are being loaded
	PhaseReady      Phase = "READY"   // data is loaded, nothing of it processed
	PhasePaused     Phase = "PAUSED"  // stopped, by an administrator or by itself
	PhaseProcessing Phase = "PROCESSING"
	PhaseCompleted  Phase = "COMPLETED"
	PhaseFailed     Phase = "FAILED"
	PhaseCancelled  Phase = "CANCELLED"
)

// Phases lists them in the order in which a migration goes through them.
func Phases() []Phase {
	return []Phase{PhaseEmpty, PhaseLoading, PhaseReady, PhaseProcessing, PhasePaused, PhaseCompleted, PhaseFailed, PhaseCancelled}
}

// Values are the phases.
func (Phase) Values() []string { return names(Phases()) }

// Status is the status that the phase is of.
func (p Phase) Status() Status {
	switch p {
	case PhaseProcessing:
		return InProgress
	case PhaseCompleted, PhaseFailed, PhaseCancelled:
		return Status(p)
	}
	return Idle
}

// Operation is what an administrator does to a migration.
type Operation string

// The operations, named as their buttons and endpoints are.
const (
	OpUpload   Operation = "upload"
	OpStart    Operation = "start"
	OpStop     Operation = "stop"
	OpContinue Operation = "continue"
	OpCancel   Operation = "cancel"
	OpReset    Operation = "reset"
	OpRetry    Operation = "retry" // of the records that the target refused
	OpUndo     Operation = "undo"  // of what was written
)

// Wish is what an administrator says beside an operation.
type Wish struct {
	// AcceptIncomplete is for OpUpload: files that are damaged are loaded as they are.
	AcceptIncomplete bool
	// AcceptOtherSite is for OpUpload: id mappings for another site than the target are loaded.
	AcceptOtherSite bool
	// Drafts are the files that are meant: those that OpUpload loads, which must be
	// named, and those that OpStart processes, which may be.
	Drafts Drafts
}

// transitions is the table of states and operations: where each is allowed, and
// where it leads.
var transitions = []struct {
	op   Operation
	from []Phase
	to   Phase
}{
	{OpUpload, []Phase{PhaseEmpty, PhaseLoading, PhaseReady}, PhaseLoading},
	{OpStart, []Phase{PhaseReady}, PhaseProcessing},
	{OpStop, []Phase{PhaseProcessing}, PhasePaused},
	{OpContinue, []Phase{PhasePaused, PhaseFailed}, PhaseProcessing},
	{OpCancel, []Phase{PhaseLoading, PhaseReady, PhasePaused, PhaseProcessing, PhaseFailed}, PhaseCancelled},
	{OpReset, []Phase{PhaseEmpty, PhaseLoading, PhaseReady, PhasePaused, PhaseCompleted, PhaseFailed, PhaseCancelled}, PhaseEmpty},
	{OpRetry, []Phase{PhaseCompleted}, PhaseProcessing},
	{OpUndo, []Phase{PhaseCompleted, PhaseCancelled, PhaseFailed, PhasePaused}, PhaseProcessing},
}

// Operations lists them in the order of the table.
func Operations() []Operation {
	list := make([]Operation, len(transitions))
	for i, t := range transitions {
		list[i] = t.op
	}
	return list
}

// Values are the operations.
func (Operation) Values() []string { return names(Operations()) }

// Allowed lists the operations that the migration's phase allows; a retry only
// where the target has refused something, and undoing where something may have
// been written.
func (m *Migration) Allowed() []Operation {
	list := m.Phase.Allowed()
	if m.Phase == PhaseCompleted && m.Refused > 0 {
		list = append(list, OpRetry)
	}
	if _, err := m.Phase.After(OpUndo); err == nil && m.Stage != 0 && (m.Checked || m.ParentMaps > 0 || m.Undoing) {
		list = append(list, OpUndo)
	}
	return list
}

// After is the phase that op leads to: fault.Conflict, with the status and what
// is allowed, when it is not allowed.
func (m *Migration) After(op Operation) (Phase, error) {
	if allowed := m.Allowed(); !slices.Contains(allowed, op) {
		return m.Phase, notAllowed(m.Phase, op, allowed)
	}
	return m.Phase.After(op)
}

// Allowed lists the operations that the phase allows by itself, which a retry and
// undoing are not.
func (p Phase) Allowed() []Operation {
	var list []Operation
	for _, t := range transitions {
		if slices.Contains(t.from, p) && t.op != OpRetry && t.op != OpUndo {
			list = append(list, t.op)
		}
	}
	return list
}

// After is the phase that op leads to: fault.Conflict, with the status and what
// is allowed, when it is not allowed.
func (p Phase) After(op Operation) (Phase, error) {
	for _, t := range transitions {
		if t.op == op && slices.Contains(t.from, p) {
			return t.to, nil
		}
	}
	return p, notAllowed(p, op, p.Allowed())
}

func notAllowed(p Phase, op Operation, allowed []Operation) error {
	words := make([]string, len(allowed))
	for i, op := range allowed {
		words[i] = string(op)
	}
	now := string(p.Status())
	if p.Status() == Idle {
		now += ", " + string(p)
	}
	return fault.New(fault.Conflict, "The migration is %s, which does not allow %s; allowed are: %s.", now, op, strings.Join(words, ", "))
}

// Migration is the one migration that there is at a time, and how far it is.
type Migration struct {
	Phase Phase
	// Epoch counts up whenever an administrator or another worker takes over: what
	// an earlier worker still wants to write is refused.
	Epoch int64
	Stage int64 // the data set that is loaded or being loaded; 0 for none

	Records, RecordsDone int64 // distinct ones
	Chunks, ChunksDone   int64
	IssuesInChunk        int64 // issues done of the chunk after ChunksDone
	Issues               int64 // done
	ParentMaps           int64 // relationships of this data that are in the target
	Permanent, Retryable int64 // errors
	Refused              int64 // those of Permanent whose reason is the target's
	Groups               ErrorGroups

	Checked bool // the preflight has passed: the target may have been written to

	// While records that the target refused are tried again: how far that is.
	Retrying bool
	RetryAt  Place

	// While what was written is undone, from the end on: the counts above go down.
	Undoing bool
	Undone  int64 // issues
	Kept    int64 // those of them with relations that were changed since, which stay

	Pace Pace

	StartedAt, UpdatedAt time.Time
	Worked               time.Duration // in PhaseProcessing, waits for the target included
	Message              string

	// Incomplete says what is wrong with the files of the data, a sentence a
	// line: that was accepted when they were loaded.
	Incomplete       string
	AcceptIncomplete bool // they are to be loaded although they are damaged
}
