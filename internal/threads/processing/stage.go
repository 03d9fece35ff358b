package processing

import (
	"context"

	"outrigger/internal/threads"
	"outrigger/internal/threads/staging"
	"outrigger/internal/threads/store"
)

// stage makes chunks of two files; what an earlier attempt has left is deleted.
func (p *Processor) stage(ctx context.Context, st *threads.StageState, w *store.StageWriter) (*threads.Preview, error) {
	if err := w.Clear(ctx); err != nil {
		return nil, err
	}
	hierarchy, mappings, err := p.Store.Inputs(ctx, st)
	if err != nil {
		return nil, err
	}
	file := func(u threads.Upload) staging.File {
		r := p.Store.Uploads.Reader(ctx, u)
		return staging.File{Content: r, Size: u.Length, At: r.At}
	}
	return staging.Stage(ctx, staging.Options{
		Store: w, Hierarchy: file(hierarchy), Mappings: file(mappings), MaxUnpacked: p.MaxUnpacked, ChunkSize: p.ChunkSize,
	})
}
