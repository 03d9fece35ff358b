package notify

// RuleTarget is where a rule sends.
type RuleTarget struct {
	ChannelID int64
	Enabled   bool
}

// Reroute is the channel that a delivery for the rules belongs on, which is on
// the channel now: it stays while an enabled rule of its own sends there, else
// follows one that sends elsewhere. It is 0 where none of them is enabled.
func Reroute(rules []int64, targets map[int64]RuleTarget, now int64) (channel int64) {
	for _, id := range rules {
		switch to := targets[id]; {
		case !to.Enabled:
		case to.ChannelID == now:
			return now
		case channel == 0:
			channel = to.ChannelID
		}
	}
	return channel
}
