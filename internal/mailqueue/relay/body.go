package relay

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// inlineBody is how large a message may be to be kept in memory while it
	// comes in, and in its row afterwards. Most mail is smaller; 200 clients
	// that send at once take 12 MiB.
	inlineBody = 64 << 10

	// partSize is how much of a larger, compressed message one row holds, and
	// so what reading it takes of memory.
	partSize = 256 << 10

	// window is how far back compression looks. Mail repeats itself within
	// that, and 8 sessions that send large messages take 1 MiB each.
	window = 256 << 10
)

// codec compresses and decompresses what is stored.
type codec struct {
	enc     *zstd.Encoder
	dec     *zstd.Decoder
	buffers sync.Pool
}

func newCodec() (*codec, error) {
	enc, err := newEncoder(nil)
	if err != nil {
		return nil, fmt.Errorf("preparing compression: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, fmt.Errorf("preparing decompression: %w", err)
	}
	return &codec{enc: enc, dec: dec}, nil
}

func newEncoder(w io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
}

func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
}

// spool takes the bytes of a message that comes in: in memory while they are
// few, then compressed into a file that has no name, so that a crash leaves
// nothing behind.
type spool struct {
	codec *codec
	dir   string
	size  int64

	raw  []byte
	file *os.File
	zip  *zstd.Encoder
}

func (c *codec) spool(dir string) *spool {
	raw, ok := c.buffers.Get().(*[]byte)
	if !ok {
		raw = new([]byte)
	}
	return &spool{codec: c, dir: dir, raw: (*raw)[:0]}
}

// Write fails when the disk is full.
func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.zip == nil {
		if len(s.raw)+len(p) <= inlineBody {
			s.raw = append(s.raw, p...)
			return len(p), nil
		}
		if err := s.overflow(); err != nil {
			return 0, err
		}
	}
	return s.zip.Write(p)
}

// overflow goes on in a file.
func (s *spool) overflow() (err error) {
	if s.file, err = os.CreateTemp(s.dir, "mail-*.part"); err != nil {
		return err
	}
	os.Remove(s.file.Name()) // where an open file cannot be removed, close does it
	if s.zip, err = newEncoder(s.file); err != nil {
		return err
	}
	_, err = s.zip.Write(s.raw)
	return err
}

// finish compresses what is there: into one piece for the message's row, or,
// leaving that empty, into the pieces for rows of their own.
func (s *spool) finish() (inline []byte, parts [][]byte, err error) {
	if s.zip == nil {
		return s.codec.enc.EncodeAll(s.raw, make([]byte, 0, len(s.raw)/2+64)), nil, nil
	}
	if err := s.zip.Close(); err != nil {
		return nil, nil, err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, nil, err
	}
	for {
		part := make([]byte, partSize)
		n, err := io.ReadFull(s.file, part)
		if n > 0 {
			parts = append(parts, part[:n])
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return []byte{}, parts, nil
		default:
			return nil, nil, err
		}
	}
}

// large reports whether finish needs as much memory as the message has bytes.
func (s *spool) large() bool { return s.file != nil }

// close forgets what is there.
func (s *spool) close() {
	raw := s.raw
	s.codec.buffers.Put(&raw)
	s.raw = nil
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}

// open reads a message that has its pieces in rows of their own; next gives
// them in turn, and io.EOF behind the last.
func (c *codec) open(next func() ([]byte, error)) (io.ReadCloser, error) {
	dec, err := newDecoder(&pieces{next: next})
	if err != nil {
		return nil, err
	}
	return dec.IOReadCloser(), nil
}

// pieces reads one piece after the other.
type pieces struct {
	next func() ([]byte, error)
	rest []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		rest, err := p.next()
		if err != nil {
			return 0, err
		}
		p.rest = rest
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
