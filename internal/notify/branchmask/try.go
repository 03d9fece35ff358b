package branchmask

// Tried is what a mask says of a branch name.
type Tried struct {
	Branch string
	Match  bool
	Err    error // see Match; nil where Match says it
}

// Try says what the mask makes of each name, as a rule does.
func (m *Mask) Try(branches []string) []Tried {
	tried := make([]Tried, len(branches))
	for i, branch := range branches {
		matches, err := m.Match(branch)
		tried[i] = Tried{branch, matches, err}
	}
	return tried
}
