package threads

// Actor is who does something, for the audit trail.
type Actor struct {
	Name, Source, Address, RequestID string
}
