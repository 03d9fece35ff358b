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
	SentAt time.Time `json:"sentAt"`         // when its upload began
	Site   string    `json:"site,omitempty"` // see Upload
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

// Site is the cloud site that the id mappings are for; "" where that is not known.
func (st *StageState) Site() string {
	for _, in := range st.Inputs {
		if in.Kind == MappingsFile {
			return in.Site
		}
	}
	return ""
}

// Drafts are the files of the stage; without their digests until it is done.
func (st *StageState) Drafts() Drafts {
	d := Drafts{Hierarchy: Draft{ID: st.HierarchyID}, Mappings: Draft{ID: st.MappingsID}}
	for _, in := range st.Inputs {
		to := &d.Hierarchy
		if in.Kind == MappingsFile {
			to = &d.Mappings
		}
		to.SHA256, to.Filename, to.CreatedBy, to.CreatedAt = in.SHA256, in.Name, in.SentBy, in.SentAt
	}
	return d
}
