package notify

import (
	"context"
)

// forReader has a list of what the store gave say to who asks what he may read.
func forReader[T any, P interface {
	*T
	show(inside bool)
}](ctx context.Context, list []T) []T {
	inside := readsInside(ctx)
	for i := range list {
		P(&list[i]).show(inside)
	}
	return list
}
