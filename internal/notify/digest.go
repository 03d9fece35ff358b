package notify

// MaxDigest is how many messages go out in one digest: more lines are not read
// in a chat.
const MaxDigest = 50

// Digest is the deliveries that one message was, or is to be, sent for.
type Digest struct {
	Members []DeliveryInfo // those that who asks may see, the first first
	Others  int            // those that he may not
}
