package notify

import (
	"context"

	"outrigger/internal/identity"
)

// MaxDigest is how many messages go out in one digest: more lines are not read
// in a chat.
const MaxDigest = 50

// Digest is the deliveries that one message was, or is to be, sent for.
type Digest struct {
	Members []DeliveryInfo // those that who asks may see, the first first
	Others  int            // those that he may not
}

// Digest returns what went out, or goes out, in one message with a delivery that
// Get gave: nothing where it has a message of its own.
func (s *Deliveries) Digest(ctx context.Context, d DeliveryInfo) (Digest, error) {
	if d.Batch == 0 {
		return Digest{}, nil
	}
	found, err := s.Store.DigestMembers(ctx, d.Delivery, MaxDigest)
	if err != nil {
		return Digest{}, err
	}
	infos, err := s.Store.Describe(ctx, found)
	if err != nil {
		return Digest{}, err
	}
	var digest Digest
	who := identity.From(ctx)
	for i := range infos {
		if infos[i].visibleTo(who) {
			digest.Members = append(digest.Members, infos[i])
		} else {
			digest.Others++
		}
	}
	forReader(ctx, digest.Members)
	return digest, nil
}
