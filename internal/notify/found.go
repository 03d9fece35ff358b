package notify

// Found is one of what a platform has: Value as it is written in rules, Label as
// people call it, "" where they do not call it otherwise.
type Found struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
}
