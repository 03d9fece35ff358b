package notify

import "time"

// MembershipKey is a question to a platform: is the user in the group?
type MembershipKey struct{ Connection, Group, User string }

// Folded is the key under which its answer is kept: the platform compares both
// names without case.
func (k MembershipKey) Folded() MembershipKey {
	k.Group, k.User = Fold(k.Group), Fold(k.User)
	return k
}

// Membership is what a platform answered, and when. Zero: it never did.
type Membership struct {
	Member bool
	At     time.Time
}

// AnswersGroups reports whether the connection's platform can be asked who is in
// a group: any account of a self-hosted one may.
func (c *Connection) AnswersGroups() bool {
	return c.Edition() == SelfHosted && !c.Token.IsZero()
}
