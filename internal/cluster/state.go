package cluster

// State is what a node is doing: the host application's set.
type State string

// The states of a node.
const (
	Activating  State = "ACTIVATING"  // starting: registered, not ready yet
	Active      State = "ACTIVE"      // takes its share of the work
	Passivating State = "PASSIVATING" // drained: finishes what is in flight
	Passive     State = "PASSIVE"     // drained: holds nothing
	Offline     State = "OFFLINE"     // stopped, or not heard of
)

// event is what changes a state.
type event string

const (
	begins  event = "begins"  // the process starts
	beats   event = "beats"   // its heartbeat arrives
	ready   event = "ready"   // migrations done, listeners open, first samples tried
	drained event = "drained" // an administrator drains it
	emptied event = "emptied" // nothing is in flight any more
	resumed event = "resumed" // an administrator resumes it
	stops   event = "stops"   // orderly stop
	silent  event = "silent"  // no heartbeat for too long
)

// next is the table of states: where an event leads from a state, and false
// where it is not allowed. An event that changes nothing leads to the same
// state.
func next(from State, e event) (State, bool) {
	switch e {
	case begins:
		return Activating, true
	case stops, silent:
		return Offline, true
	case beats:
		if from == Offline {
			return Activating, true
		}
		return from, true
	case ready:
		if from == Activating {
			return Active, true
		}
		return from, true // OFFLINE: its next heartbeat says that it lives
	}
	switch {
	case e == drained && from == Active:
		return Passivating, true
	case e == emptied && from == Passivating:
		return Passive, true
	case e == resumed && (from == Passivating || from == Passive):
		return Active, true
	}
	return from, false
}
