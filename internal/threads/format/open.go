package format

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"

	"outrigger/internal/config"
	"outrigger/internal/fault"
)

// Open takes off what a file went through on its way here: gzip or zip around
// it, a byte order mark, UTF-16. It gives at most limit bytes, then
// fault.TooLarge: a few kilobytes can unpack to more than a disk holds. A
// packed file that ends too early gives io.ErrUnexpectedEOF, as the decoders
// expect it; one that is damaged fault.Invalid. It closes nothing.
func Open(r io.Reader, limit int64) (io.Reader, error) {
	in := bufio.NewReaderSize(r, sourceSize)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) && !cut(err) {
		return nil, err
	}
	var plain io.Reader = in
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		zr, err := gzip.NewReader(in)
		if cut(err) {
			return nil, fault.Wrap(err, fault.Invalid, "The gzip file is cut off in its first bytes; send it again.")
		}
		if err != nil {
			return nil, damaged(err)
		}
		plain = zr
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")):
		plain = &unzip{in: in}
	case bytes.HasPrefix(magic, []byte("PK\x05\x06")):
		return nil, fault.New(fault.Invalid, "The zip archive is empty.")
	}
	text, err := withoutMark(&bounded{r: plain, limit: limit, left: limit})
	if err == nil && plain != in {
		err = packedTwice(text)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// packedTwice refuses what is packed once more in what it was packed in.
func packedTwice(r io.Reader) error {
	in, ok := r.(*bufio.Reader)
	if !ok {
		return nil // UTF-16
	}
	magic, _ := in.Peek(4) // the first Read says what is wrong
	found := ""
	switch {
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")):
		found = "a zip archive"
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		found = "a gzip file"
	default:
		return nil
	}
	return fault.New(fault.Invalid, "What is packed in the file is %s again; unpack it once and send what is in it.", found)
}

// bounded ends a file that is too long, and gives its errors as faults.
type bounded struct {
	r           io.Reader
	limit, left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if _, err := io.ReadFull(b.r, make([]byte, 1)); err != nil {
			return 0, damaged(err)
		}
		return 0, fault.New(fault.TooLarge, "The file has more than %s when it is unpacked.", config.Size(b.limit))
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, damaged(err)
}

// damaged makes a fault of what an unpacker says about its input.
func damaged(err error) error {
	if isDamage(err) {
		return fault.Wrap(err, fault.Invalid, "The packed file is damaged; pack it or send it again.")
	}
	return err
}

// isDamage recognises what unpackers say of bytes that are no packed file.
func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader)
}

// withoutMark takes a byte order mark off, and makes UTF-8 of UTF-16.
func withoutMark(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 4<<10)
	mark, err := in.Peek(3)
	if err != nil && len(mark) == 0 {
		return in, nil // the first Read says it
	}
	switch {
	case bytes.HasPrefix(mark, []byte{0xef, 0xbb, 0xbf}):
		_, err = in.Discard(3)
	case bytes.HasPrefix(mark, []byte{0xff, 0xfe}):
		_, err = in.Discard(2)
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(&pairs{r: in}), err
	case bytes.HasPrefix(mark, []byte{0xfe, 0xff}):
		_, err = in.Discard(2)
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(&pairs{r: in}), err
	default:
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("passing over the byte order mark: %w", err)
	}
	return in, nil
}

// pairs reads UTF-16. Where it ends within two bytes it was cut off, which a
// decoder would write as a character of its own.
type pairs struct {
	r   io.Reader
	odd bool
}

func (p *pairs) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.odd = p.odd != (n%2 == 1)
	if p.odd && errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
