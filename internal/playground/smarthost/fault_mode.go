package smarthost

// FaultMode is how the smarthost answers.
type FaultMode string

const (
	Accepts FaultMode = "accepts" // takes everything
	Defers  FaultMode = "defers"  // 451: not now
	Refuses FaultMode = "refuses" // 550: never
	Away    FaultMode = "away"    // hangs up on every connection
	Busy    FaultMode = "busy"    // 421 to MAIL: ends the session
	Locked  FaultMode = "locked"  // 530: requires sign-in
)

// FaultModes lists them for the page.
func FaultModes() []FaultMode { return []FaultMode{Accepts, Defers, Refuses, Away, Busy, Locked} }

// Words say what the smarthost does, for the page.
func (m FaultMode) Words() string { return faultModes[m].words }

// manner is what a mode answers to one verb.
type manner struct {
	words string
	verb  string // "": nothing out of the ordinary
	reply Reaction
}

var faultModes = map[FaultMode]manner{
	Accepts: {words: "accepts everything"},
	Defers:  {"defers: 451", "RCPT", Reaction{Reply: "451 4.7.1 Greylisted, please try again later"}},
	Refuses: {"refuses: 550", "RCPT", Reaction{Reply: "550 5.1.1 There is nobody of that name here"}},
	Away:    {"is away", "CONNECT", Reaction{Then: HangUp}},
	Busy:    {"is busy: 421", "MAIL", Reaction{Reply: "421 4.7.0 Too many messages, try again later", Then: HangUp}},
	Locked:  {"wants a password: 530", "MAIL", Reaction{Reply: "530 5.7.0 Authentication required"}},
}

func (m manner) reaction(r Request) *Reaction {
	if m.verb == "" || m.verb != r.Verb {
		return nil
	}
	return &m.reply
}
