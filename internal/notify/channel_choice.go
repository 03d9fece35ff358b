package notify

import (
	"cmp"
	"strconv"
	"strings"
)

// ChannelChoice is to which channel a draft of a rule or report is to send, besides
// by its webhook URL.
type ChannelChoice struct {
	// Channel is an id or fingerprint. It counts where no webhook URL is given, or a
	// masked one.
	Channel string
	// Called is the same as people write it: as Text, or the name or the number alone.
	Called string
	// Name and Format are those of the channel that the webhook URL makes, where
	// there is none of it yet.
	Name   string
	Format Format
}

// Text is the channel as a form names it: "reviews #7". called is its name; "" is its
// host.
func (c *Channel) Text(called string) string { return cmp.Or(called, c.Host) + " #" + c.UnderID() }

// UnderID is the number by which a channel is named in addresses.
func (c *Channel) UnderID() string { return strconv.FormatInt(c.ID, 10) }

// CutChannel cuts what names a channel into its name and its number, of which each may
// be "".
func CutChannel(text string) (name, number string) {
	name, number = "", text
	if i := strings.LastIndex(text, "#"); i == 0 || i > 0 && text[i-1] == ' ' {
		name, number = strings.TrimSpace(text[:i]), text[i+1:]
	}
	if id, err := strconv.ParseInt(number, 10, 64); err != nil || id <= 0 {
		return text, ""
	}
	return name, number
}
