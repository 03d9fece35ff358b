package openid

// Part is one of the things that the provider says.
type Part int

// The parts.
const (
	Configuration Part = iota
	Claims             // of an ID token
	Redirect           // what browsers come back with
	Tokens             // the answer to a code
	UserInfo
)

// Twist changes what the provider says, for clients that must notice.
type Twist struct {
	// Say changes a part before it is said.
	Say func(part Part, said map[string]any)
	// Token puts another ID token in place of the right one.
	Token func(token string, claims map[string]any, client Client) string
}

// Twist has what the provider says changed from now on; the zero Twist ends it.
func (p *Provider) Twist(t Twist) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.twist = t
}

func (t Twist) say(part Part, said map[string]any) map[string]any {
	if t.Say != nil {
		t.Say(part, said)
	}
	return said
}
