package processing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"outrigger/internal/threads"
	"outrigger/internal/threads/staging"
	"outrigger/internal/threads/store"
)

// stage makes chunks of two files, and says which they were; what an earlier
// attempt has left is deleted.
func (p *Processor) stage(ctx context.Context, st *threads.StageState, w *store.StageWriter) (*threads.Preview, []threads.Input, error) {
	if err := w.Clear(ctx); err != nil {
		return nil, nil, err
	}
	hierarchy, mappings, err := p.Store.Inputs(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	records, ids := p.open(ctx, hierarchy), p.open(ctx, mappings)
	preview, err := staging.Stage(ctx, staging.Options{
		Store: w, Hierarchy: records.file(), Mappings: ids.file(), MaxUnpacked: p.MaxUnpacked, ChunkSize: p.ChunkSize,
	})
	if err != nil {
		return nil, nil, err
	}
	var inputs []threads.Input
	for _, in := range []*input{records, ids} {
		described, err := in.describe()
		if err != nil {
			return nil, nil, err
		}
		inputs = append(inputs, described)
	}
	return preview, inputs, nil
}

// input is an upload that is read, and its digest so far.
type input struct {
	threads.Upload
	r   *store.UploadReader
	sum hash.Hash
}

func (p *Processor) open(ctx context.Context, u threads.Upload) *input {
	return &input{Upload: u, r: p.Store.Uploads.Reader(ctx, u), sum: sha256.New()}
}

func (i *input) file() staging.File {
	return staging.File{Content: io.TeeReader(i.r, i.sum), Size: i.Length, At: i.r.At}
}

// describe reads what the decoders have left, such as what follows the end of a
// zip archive, and says which file it is.
func (i *input) describe() (threads.Input, error) {
	if _, err := io.Copy(i.sum, i.r); err != nil {
		return threads.Input{}, err
	}
	return threads.Input{
		Kind: i.Kind, Name: i.Filename, Size: i.Length, SHA256: hex.EncodeToString(i.sum.Sum(nil)), SentBy: i.CreatedBy, SentAt: i.CreatedAt,
		Site: i.Site,
	}, nil
}
