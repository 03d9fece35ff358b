package mailqueue

import (
	"context"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// ParseMessageID reads the id of a message in an address.
func ParseMessageID(ctx context.Context, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, identity.Missing(ctx, "There is no message %q.", text)
	}
	return id, nil
}

// HideMissing answers for a message that does not exist what the caller would
// be told about one that is not for them.
func HideMissing(ctx context.Context, err error) error {
	if fault.Is(err, fault.NotFound) {
		return identity.Missing(ctx, "%s", fault.As(err).Message)
	}
	return err
}
