package threads

import "time"

// The kinds of files that are sent.
const (
	HierarchyFile = "hierarchy"
	MappingsFile  = "mappings"
	BackupFile    = "backup"
)

// StageState is two drafts on their way to being chunks.
type StageState struct {
	ID                      int64
	State                   string
	HierarchyID, MappingsID int64 // uploads
	Step                    string
	Done                    float64 // 0 to 1
	Chunks                  int64
	Preview                 *Preview // once it is done
	Inputs                  []Input  // the files, once it is done
	Message                 string   // why it failed
	CreatedAt               time.Time
}

// Input is a file that data was made of, as it came in.
type Input struct {
	Kind   string    `json:"kind"`
	Name   string    `json:"name"` // as its sender calls it; may be ""
	Size   int64     `json:"size"` // bytes
	SHA256 string    `json:"sha256"`
	SentBy string    `json:"sentBy"`
	SentAt time.Time `json:"sentAt"` // when its upload began
}

// States of a stage; one that is gone is in no list.
const (
	StageWanted  = "wanted"
	StageRunning = "running"
	StageDone    = "done"
	StageFailed  = "failed"
)

// Percent is how much is read, 100 only at the end.
func (st *StageState) Percent() int {
	if st.State == StageDone {
		return 100
	}
	return min(int(st.Done*100), 99)
}
