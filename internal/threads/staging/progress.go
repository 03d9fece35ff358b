package staging

import (
	"fmt"
)

// progress is how far a stage is.
type progress struct {
	step string
	done float64
}

// The steps, as people see them.
const (
	stepHierarchy = "Reading the hierarchy"
	stepMappings  = "Reading the id mappings"
	stepComments  = "Matching comments"
	stepParents   = "Matching parents"
	stepIssues    = "Building chunks"
)

// weights are the part that each step has of the whole, as measured for as
// many mappings as records.
var weights = []struct {
	step string
	part float64
}{{stepHierarchy, .25}, {stepMappings, .25}, {stepComments, .12}, {stepParents, .18}, {stepIssues, .20}}

const (
	// tellEvery is after how many rows progress is reported, at most.
	tellEvery = 1 << 15
	// tellStep is how much more must have been done.
	tellStep = .01
)

// tell says after row n how much of a step is done, now and then.
func (s *stage) tell(n int64, step string, part float64) error {
	if n%tellEvery != 0 && step == s.told.step {
		return s.ctx.Err()
	}
	done := 0.0
	for _, w := range weights {
		if w.step == step {
			done += w.part * part
			break
		}
		done += w.part
	}
	if step == s.told.step && done-s.told.done < tellStep {
		return s.ctx.Err()
	}
	s.told = progress{step, done}
	if err := s.Store.Progress(s.ctx, step, done); err != nil {
		return fmt.Errorf("noting the progress: %w", err)
	}
	return s.ctx.Err()
}
