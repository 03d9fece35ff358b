package format

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"path"
	"strings"

	"outrigger/internal/fault"
)

// unzip reads the one file in a zip archive as a stream, front to back, which
// archive/zip cannot: it needs the archive's end first, and an upload of many
// gigabytes is not in memory. What file managers add (folders, resource
// forks) is passed over.
//
// Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.9.
type unzip struct {
	in    *bufio.Reader
	entry *zipEntry // nil between two
	taken bool      // the file has been read
	first string    // its name
	err   error
}

// zipEntry is one file in the archive.
type zipEntry struct {
	data     io.Reader
	sum      hash.Hash32
	crc      uint32
	later    bool // the checksum follows the data
	left     bool // it is not the one that is wanted
	fileName string
}

func (z *unzip) Read(p []byte) (int, error) {
	for z.err == nil {
		if z.entry == nil {
			z.entry, z.err = z.open()
			continue
		}
		n, err := z.entry.data.Read(p)
		z.entry.sum.Write(p[:n])
		switch {
		case errors.Is(err, io.EOF):
			z.err = z.close(z.entry)
			z.taken = z.taken || !z.entry.left
			left := z.entry.left
			z.entry = nil
			if !left && n > 0 {
				return n, nil
			}
		case err != nil:
			z.err = err
		case !z.entry.left:
			return n, nil
		}
	}
	return 0, z.err
}

const (
	localHeader = 30
	encrypted   = 1 << 0
	sizesLater  = 1 << 3
)

// open reads the header of the next entry.
func (z *unzip) open() (*zipEntry, error) {
	signature, err := z.in.Peek(4)
	switch {
	case len(signature) == 4 && string(signature) != "PK\x03\x04": // the archive's directory: no more files
		if !z.taken {
			return nil, fault.New(fault.Invalid, "The zip archive has no file in it.")
		}
		return nil, z.directory()
	case len(signature) < 4 && errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	var head [localHeader]byte
	if _, err := io.ReadFull(z.in, head[:]); err != nil {
		return nil, err
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(head[at:]) }
	more := make([]byte, int(u16(26))+int(u16(28)))
	if _, err := io.ReadFull(z.in, more); err != nil {
		return nil, atEnd(err)
	}
	name, extra := string(more[:u16(26)]), more[u16(26):]
	e := &zipEntry{
		sum: crc32.NewIEEE(), crc: binary.LittleEndian.Uint32(head[14:]), later: u16(6)&sizesLater != 0,
		left: isClutter(name), fileName: name,
	}
	size := int64(binary.LittleEndian.Uint32(head[18:]))
	if size == 0xffffffff {
		size = wideSize(extra)
	}
	switch method := u16(8); {
	case !e.left && z.taken:
		return nil, fault.New(fault.Invalid, "The zip archive has more than one file in it, %q and %q; leave one.", excerpt([]byte(z.first)),
			excerpt([]byte(name)))
	case u16(6)&encrypted != 0:
		return nil, fault.New(fault.Invalid, "The zip archive is encrypted; pack it without a password.")
	case method == 8:
		e.data = flate.NewReader(z.in)
	case method == 0 && !e.later:
		e.data = &exactly{z.in, size}
	default:
		return nil, fault.New(fault.Invalid, "The compression method of the zip archive is not supported; use deflate, or gzip.")
	}
	if !e.left {
		z.first = name
	}
	return e, nil
}

// directory passes over the archive's directory, and gives io.EOF where its end
// is there: an archive without it was cut, perhaps between two files.
func (z *unzip) directory() error {
	for {
		start, err := z.in.Peek(4)
		if len(start) < 4 {
			return atEnd(err)
		}
		signature := string(start)
		part, known := directoryParts[signature]
		if !known {
			return fault.New(fault.Invalid, "The zip archive is damaged; pack it or send it again.")
		}
		head := make([]byte, part.length)
		if _, err := io.ReadFull(z.in, head); err != nil {
			return atEnd(err)
		}
		for _, at := range part.more {
			if _, err := z.in.Discard(int(binary.LittleEndian.Uint16(head[at:]))); err != nil {
				return atEnd(err)
			}
		}
		if signature == "PK\x05\x06" {
			return io.EOF
		}
	}
}

// directoryParts are the records of a directory by their signatures: how long
// each is, and where the lengths of what follows it are. A wide end (zip64) has
// no extensible data as archivers write it.
var directoryParts = map[string]struct {
	length int
	more   []int
}{
	"PK\x01\x02": {46, []int{28, 30, 32}}, // a file
	"PK\x05\x05": {6, []int{4}},           // a signature
	"PK\x06\x06": {56, nil},               // a wide end
	"PK\x06\x07": {20, nil},               // where that is
	"PK\x05\x06": {22, []int{20}},         // the end
}

// atEnd makes a cut of an end that comes too early.
func atEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// isClutter reports whether an entry is what file managers add.
func isClutter(name string) bool {
	return strings.HasSuffix(name, "/") || strings.HasPrefix(name, "__MACOSX/") ||
		strings.HasPrefix(path.Base(name), "._") || path.Base(name) == ".DS_Store"
}

// wideSize is the packed size of an entry beyond 4 GiB: the second number of
// the extra field 1.
func wideSize(extra []byte) int64 {
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			break
		}
		if id == 1 && n >= 16 {
			return int64(binary.LittleEndian.Uint64(extra[8:]) & (1<<63 - 1))
		}
		extra = extra[n:]
	}
	return 0
}

// close reads what follows an entry's data, and holds the data to its checksum.
func (z *unzip) close(e *zipEntry) error {
	if e.later {
		if err := z.descriptor(e); err != nil {
			return err
		}
	}
	if e.sum.Sum32() != e.crc {
		return fault.New(fault.Invalid, "The file %s in the zip archive is damaged; pack it or send it again.", excerpt([]byte(e.fileName)))
	}
	return nil
}

// descriptor reads the checksum behind the data. Its signature is optional, and
// its sizes have 4 or 8 bytes each, which only what follows tells.
func (z *unzip) descriptor(e *zipEntry) error {
	b, err := z.in.Peek(4 + 4 + 16 + 2)
	if bytes.HasPrefix(b, []byte("PK\x07\x08")) {
		_, _ = z.in.Discard(4) // it was peeked at
		b = b[4:]
	}
	length := 4 + 8
	if len(b) >= 4+16+2 && string(b[length:length+2]) != "PK" && string(b[4+16:4+16+2]) == "PK" {
		length = 4 + 16
	}
	if len(b) < length {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	e.crc = binary.LittleEndian.Uint32(b)
	_, err = z.in.Discard(length)
	return err
}

// exactly reads n bytes; fewer are io.ErrUnexpectedEOF.
type exactly struct {
	r io.Reader
	n int64
}

func (x *exactly) Read(p []byte) (int, error) {
	if x.n == 0 {
		return 0, io.EOF
	}
	n, err := x.r.Read(p[:min(int64(len(p)), x.n)])
	x.n -= int64(n)
	if errors.Is(err, io.EOF) && x.n > 0 {
		err = io.ErrUnexpectedEOF
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
