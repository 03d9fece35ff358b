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
)

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
}

// Operations lists them in the order of the table.
func Operations() []Operation {
	list := make([]Operation, len(transitions))
	for i, t := range transitions {
		list[i] = t.op
	}
	return list
}

// Allowed lists the operations that the migration's phase allows; a retry only
// where the target has refused something.
func (m *Migration) Allowed() []Operation {
	list := m.Phase.Allowed()
	if m.Phase == PhaseCompleted && m.Refused > 0 {
		list = append(list, OpRetry)
	}
	return list
}

// After is the phase that op leads to: fault.Conflict, with the status and what
// is allowed, when it is not allowed.
func (m *Migration) After(op Operation) (Phase, error) {
	allowed := m.Allowed()
	if !slices.Contains(allowed, op) {
		return m.Phase, notAllowed(m.Phase, op, allowed)
	}
	return m.Phase.After(op)
}

// Allowed lists the operations that the phase allows by itself, which a retry is
// not one of.
func (p Phase) Allowed() []Operation {
	var list []Operation
	for _, t := range transitions {
		if slices.Contains(t.from, p) && t.op != OpRetry {
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

	Checked bool // the preflight has passed

	// While records that the target refused are tried again: how far that is.
	Retrying bool
	RetryAt  Place

	Pace Pace

	StartedAt, UpdatedAt time.Time
	Worked               time.Duration // in PhaseProcessing, waits for the target included
	Message              string

	// Incomplete says what is wrong with the files of the data, a sentence a
	// line: that was accepted when they were loaded.
	Incomplete       string
	AcceptIncomplete bool // they are to be loaded although they are damaged
}

// Retry has the records that the target refused processed again.
func (m *Migration) Retry() {
	m.Groups = slices.Clone(m.Groups)
	for n := range m.Groups {
		if m.Groups[n].Reason.OfTarget() {
			m.Groups[n].Records = 0
		}
	}
	m.RecordsDone -= m.Refused
	m.Permanent -= m.Refused
	m.Refused, m.Retrying, m.RetryAt = 0, true, Place{}
}

// Pending tells whether an error of the target at a place is one that is still
// to be tried again.
func (m *Migration) Pending(r Reason, at Place) bool {
	return m.Retrying && r.OfTarget() && (at.Chunk > m.RetryAt.Chunk || at.Chunk == m.RetryAt.Chunk && at.Issue >= m.RetryAt.Issue)
}

// Place is an issue of a data set.
type Place struct {
	Chunk int64
	Issue int64 // of the chunk, from 0
}

// Percent is how much is done, rounded down; 100 only at the end.
func (m *Migration) Percent() int {
	switch {
	case m.Phase == PhaseCompleted:
		return 100
	case m.Records == 0:
		return 0
	}
	// Records are fewer than 2^56: each takes more than a byte of a file.
	return int(min(m.RecordsDone*100/m.Records, 99))
}

// Next is the migration as a copy that can be changed.
func (m *Migration) Next() Migration {
	next := *m
	next.Groups = slices.Clone(m.Groups)
	return next
}

// Err counts permanent errors.
func (m *Migration) Err(r Reason, a Answer, records int64) {
	m.Permanent += records
	if r.OfTarget() {
		m.Refused += records
	}
	n := m.Groups.group(r, a)
	m.Groups[n].Records += records
}

// Advance counts an issue of a chunk as done, with the number of its relations
// that are in the target.
func (m *Migration) Advance(c *Chunk, i IssueEntries, relations int) {
	m.Issues++
	m.RecordsDone += int64(len(i.Entries))
	m.ParentMaps += int64(relations)
	for _, e := range i.Entries {
		if e.Reason != "" {
			m.Err(e.Reason, m.Groups.AnswerTo(i, e.Reason), 1)
		}
	}
	if m.IssuesInChunk++; m.IssuesInChunk == int64(len(c.Issues)) {
		m.ChunksDone, m.IssuesInChunk = m.ChunksDone+1, 0
	}
}
