package threads

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
	Message                 string   // why it failed
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
