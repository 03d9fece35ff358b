package admin

import (
	"context"

	"outrigger/internal/notify"
)

// forReader reduces a list from the store to what the user may read.
func forReader[T any, P interface {
	*T
	Show(inside bool)
}](ctx context.Context, list []T) []T {
	inside := notify.ReadsInside(ctx)
	for i := range list {
		P(&list[i]).Show(inside)
	}
	return list
}
