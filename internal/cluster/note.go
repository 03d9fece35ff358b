package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"outrigger/internal/fault"
)

// noteFile, in the data folder, says which database this node saw last, and how
// far it was.
const noteFile = "database-seen.json"

// note is what noteFile holds. A database that has fewer beats of the node is in a
// state of before. Times are for people: clocks go wrong.
type note struct {
	Database string    `json:"database"`
	Node     string    `json:"node"`
	Beats    int64     `json:"beats"`
	SeenAt   time.Time `json:"seenAt"` // by the database's clock

	damaged bool
}

// Found says how a database is not the one that this node saw last.
type Found string

// What a node may find. A database that is new, with nothing in it, is none of these.
const (
	Earlier Found = "earlier" // an earlier state of the same database
	Other   Found = "other"   // another database, in which there is something
	Unknown Found = "unknown" // the note of it cannot be read
)

// Finding is what a node found.
type Finding struct {
	Found   Found
	Node    string    // which node did
	SeenAt  time.Time // when it saw the database last, by the database's clock; zero: not known
	StateAt time.Time // the last heartbeat of any node in the state that it found
}

// judge holds the database that has an identity and these nodes against the note;
// nil: nothing was found.
func (n *note) judge(identity string, nodes []Node, by string) *Finding {
	f := &Finding{Node: by, SeenAt: n.SeenAt}
	for i := range nodes {
		if nodes[i].BeatAt.After(f.StateAt) {
			f.StateAt = nodes[i].BeatAt
		}
	}
	switch {
	case len(nodes) == 0:
		return nil
	case n.damaged:
		f.Found = Unknown
	case n.Database == "":
		return nil
	case n.Database != identity:
		f.Found = Other
	case beatsOf(nodes, n.Node) < n.Beats:
		f.Found = Earlier
	default:
		return nil
	}
	return f
}

// beatsOf is how far a database is with a node. One that is not listed was removed,
// while another was further already, or is not known yet: both show in the others.
func beatsOf(nodes []Node, id string) (beats int64) {
	for i := range nodes {
		if nodes[i].ID == id && nodes[i].beats > 0 {
			return nodes[i].beats
		}
		beats = max(beats, nodes[i].beats)
	}
	return beats
}

// readNote returns the note of a data folder; the zero note where there is none.
func readNote(dir string) (note, error) {
	if dir == "" {
		return note{}, nil
	}
	path := filepath.Join(dir, noteFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return note{}, nil
	case err != nil:
		return note{}, fault.Wrap(err, fault.Unavailable, "The file %s cannot be read. Make it readable and writable for this user.", path)
	}
	if len(bytes.Trim(text, "\x00")) == 0 { // a power cut, see write
		return note{}, nil
	}
	var n note
	if err := json.Unmarshal(text, &n); err != nil || n.Database == "" || n.Node == "" || n.Beats < 0 {
		return note{damaged: true}, nil
	}
	return n, nil
}

// write puts the note into a data folder, whole or not at all. It is not synced: a
// power cut may bring back an earlier note, which asks for less, or an empty one.
func (n *note) write(dir string) error {
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, noteFile)
	if err = os.WriteFile(path+".tmp", append(text, '\n'), 0o600); err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return fmt.Errorf("noting the heartbeat in the data folder: %w", errors.Join(err, removeIfThere(path+".tmp")))
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// HasNote reports whether a node with this data folder has ever seen a database.
func HasNote(dir string) (bool, error) {
	n, err := readNote(dir)
	return n != note{}, err
}

// Forget removes what a data folder notes about the database: it is replaced by
// another on purpose.
func Forget(dir string) error {
	if err := removeIfThere(filepath.Join(dir, noteFile)); err != nil {
		return fmt.Errorf("forgetting the database of before: %w", err)
	}
	return nil
}
