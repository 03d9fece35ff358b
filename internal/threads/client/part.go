package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

// partAge is how old the part of a download may be to be gone on with: what
// the server has may have changed since.
const partAge = time.Hour

// part is a file that is being downloaded: path.part, until it is complete.
type part struct {
	*os.File
	path string
}

// openPart opens the part of a download, empty where there is none or it is
// too old.
func openPart(path string) (*part, error) {
	name := path + ".part"
	flags := os.O_RDWR | os.O_CREATE
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > partAge {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the output: %w", err)
	}
	return &part{f, path}, nil
}

// complete makes the part the file, synced: it is there whole or not at all.
func (p *part) complete() error {
	err := p.Sync()
	if err == nil {
		err = os.Rename(p.Name(), p.path)
	}
	if err != nil {
		return fmt.Errorf("complete the output: %w", err)
	}
	dir, err := os.Open(filepath.Dir(p.path))
	if err != nil {
		return fmt.Errorf("complete the output: %w", err)
	}
	defer dir.Close()
	_ = dir.Sync() // file systems that cannot are no reason to fail
	return nil
}

// list writes records as a JSON array, one a line.
type list struct {
	part *part
	out  *bufio.Writer
	line []byte
	n    int64
}

// writeSize is how much is written at once.
const writeSize = 256 << 10

// restore counts the records that a part has, gives the first and the last,
// and drops what is behind them.
func (l *list) restore() (n int64, first, last threads.Record, err error) {
	in := bufio.NewReaderSize(l.part, writeSize)
	var size, end int64 // end is behind the last record
	for {
		line, err := in.ReadSlice('\n')
		size += int64(len(line))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, first, last, fmt.Errorf("reading the part of a download: %w", err)
		}
		record, ok := readLine(line)
		if !ok {
			if size == int64(len(line)) && string(line) == "[\n" {
				continue
			}
			break
		}
		if n == 0 {
			first = record
		}
		last, end = record, size-int64(len(",\n"))
		n++
	}
	if n == 0 {
		return 0, first, last, l.restart()
	}
	if err := l.cut(end); err != nil {
		return 0, first, last, err
	}
	l.n = n
	return n, first, last, nil
}

// readLine reads a line that is a record, as format.AppendRecord writes it, and a comma.
func readLine(line []byte) (r threads.Record, ok bool) {
	text, ok := bytes.CutSuffix(line, []byte(",\n"))
	if !ok {
		return r, false
	}
	fields := bytes.FieldsFunc(text, func(c rune) bool { return c != '-' && (c < '0' || c > '9') })
	if len(fields) != 3 {
		return r, false
	}
	for i, to := range []*int64{&r.IssueID, &r.CommentID, &r.ParentCommentID} {
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			return r, false
		}
		*to = n
	}
	return r, bytes.Equal(format.AppendRecord(nil, r), text)
}

// restart begins with no records.
func (l *list) restart() error {
	l.n = 0
	if err := l.cut(0); err != nil {
		return err
	}
	_, err := l.out.WriteString("[")
	return err
}

// cut makes the file end there, and goes on behind it.
func (l *list) cut(size int64) error {
	err := l.part.Truncate(size)
	if err == nil {
		_, err = l.part.Seek(size, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	l.out = bufio.NewWriterSize(l.part, writeSize)
	return nil
}

func (l *list) add(r threads.Record) error {
	l.line = l.line[:0]
	if l.n > 0 {
		l.line = append(l.line, ',')
	}
	l.line = format.AppendRecord(append(l.line, '\n'), r)
	l.n++
	_, err := l.out.Write(l.line)
	return err
}

func (l *list) flush() error {
	if err := l.out.Flush(); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// end closes the array.
func (l *list) end() error {
	tail := "]\n"
	if l.n > 0 {
		tail = "\n]\n"
	}
	if _, err := l.out.WriteString(tail); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return l.flush()
}
