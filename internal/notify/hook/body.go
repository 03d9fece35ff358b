package notify

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"outrigger/internal/fault"
)

const (
	// bodyMemory bounds what all webhooks together hold in memory while they
	// are read. Beyond it a body that is over firstRead is refused for now.
	bodyMemory = 64 << 20
	// firstRead is what a body may take without asking: most are smaller.
	firstRead = 16 << 10
	// bodyTime is how long a sender may take to send a body; the platform
	// itself gives up after 10 s.
	bodyTime = 30 * time.Second
)

// heldBody is what was read of a webhook, with what that takes of the memory for
// all.
type heldBody struct {
	bytes  []byte
	first  *[firstRead]byte // where bytes begin; nil after release
	share  int64            // of the memory for all; 0 up to firstRead
	memory *semaphore.Weighted
}

var firsts = sync.Pool{New: func() any { return new([firstRead]byte) }}

// release gives back the memory, bytes included. Twice is once.
func (b *heldBody) release() {
	if b.first == nil {
		return
	}
	b.memory.Release(b.share)
	firsts.Put(b.first)
	b.bytes, b.first = nil, nil
}

// read reads a body of at most MaxWebhook bytes, holding no more of the
// memory for all than it has read.
func (rc *Receiver) read(w http.ResponseWriter, r *http.Request) (*heldBody, error) {
	if r.ContentLength > MaxWebhook {
		return nil, tooLarge()
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // recorders in tests have none
	b := &heldBody{first: firsts.Get().(*[firstRead]byte), memory: rc.memory}
	b.bytes = b.first[:0]
	if err := b.readFrom(r.Body); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

func (b *heldBody) readFrom(r io.Reader) error {
	for {
		n, err := r.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case len(b.bytes) > MaxWebhook:
			return tooLarge()
		case err == io.EOF:
			return nil
		case err != nil:
			return bodyError(err)
		case len(b.bytes) < cap(b.bytes):
			continue
		}
		grown := min(2*int64(cap(b.bytes)), MaxWebhook+1)
		if !b.memory.TryAcquire(grown - b.share) {
			return &fault.Error{Code: fault.Unavailable, RetryAfter: time.Second,
				Message: "Too many large webhooks are being read at once; send this one again."}
		}
		b.share = grown
		b.bytes = append(make([]byte, 0, grown), b.bytes...)
	}
}

func tooLarge() error {
	return fault.New(fault.TooLarge, "A webhook body may have at most 10 MiB.")
}

func bodyError(err error) error {
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		return tooLarge()
	}
	return fault.Wrap(err, fault.Invalid, "The body ended early.")
}
