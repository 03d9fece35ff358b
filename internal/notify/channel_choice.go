package notify

// ChannelChoice is to which channel a draft of a rule or report is to send, besides
// by its webhook URL.
type ChannelChoice struct {
	// Channel is an id or fingerprint. It counts where no webhook URL is given, or a
	// masked one.
	Channel string
	// Name and Format are those of the channel that the webhook URL makes, where
	// there is none of it yet.
	Name   string
	Format Format
}
