package work

import (
	"context"
	"log/slog"
	"time"

	"outrigger/internal/db"
)

// releaseTime bounds giving a lease back. After that it lapses by itself.
const releaseTime = 3 * time.Second

// Release gives a lease back, also where ctx has ended. The log says where that
// fails; which names the lease, as in "the lease for builds".
func Release(ctx context.Context, leases *db.Leases, lease *db.Lease, log *slog.Logger, which string, attrs ...any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if err := leases.Release(ctx, lease); err != nil {
		log.Warn(which+" was not given back and will lapse", append(attrs, "error", err)...)
	}
}
