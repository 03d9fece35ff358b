package admin

import (
	"context"

	"outrigger/internal/notify"
)

// forReader has a list of what the store gave say to who asks what he may read.
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
