package format

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// A backup is one gzip file of lines of JSON: a header, a line for each issue
// in the order of their ids, and a trailer with the number of issues and the
// SHA-256 of everything before it.

const (
	backupFormat  = "outrigger-threads-backup"
	backupVersion = 1

	// maxBackupLine is how long the line of one issue may be: two million
	// relations.
	maxBackupLine = 64 << 20
)

// BackupHeader is the first line of a backup.
type BackupHeader struct {
	Format    string    `json:"format"`
	Version   int       `json:"version"`
	Target    string    `json:"target"`
	CreatedAt time.Time `json:"createdAt"`
}

// BackupTrailer is its last line.
type BackupTrailer struct {
	Issues    int64  `json:"issues"`
	Relations int64  `json:"relations"`
	SHA256    string `json:"sha256"`
}

// BackupWriter writes a backup.
type BackupWriter struct {
	zip     *gzip.Writer
	sum     hash.Hash
	line    []byte
	trailer BackupTrailer
}

// Maps returns maps in the order of their issues, some at a time; nil at the end.
type Maps interface {
	Next(ctx context.Context) ([]threads.IssueMap, error)
}

// WriteBackup writes a backup of a target's maps, as they were at a time.
func WriteBackup(ctx context.Context, w io.Writer, target string, at time.Time, from Maps) error {
	out, err := NewBackupWriter(w, target, at)
	if err != nil {
		return err
	}
	for {
		maps, err := from.Next(ctx)
		if err != nil {
			return err
		}
		if maps == nil {
			return out.Close()
		}
		for _, m := range maps {
			if len(m.Parents) == 0 {
				continue
			}
			if err := out.Add(m.CloudIssueID, m.Parents); err != nil {
				return err
			}
		}
	}
}

// NewBackupWriter begins a backup of a target's maps.
func NewBackupWriter(w io.Writer, target string, now time.Time) (*BackupWriter, error) {
	b := &BackupWriter{zip: gzip.NewWriter(w), sum: sha256.New()}
	header, err := json.Marshal(BackupHeader{backupFormat, backupVersion, target, now.UTC().Truncate(time.Second)})
	if err != nil {
		return nil, fmt.Errorf("beginning a backup: %w", err)
	}
	b.line = header
	return b, b.write()
}

// write writes the line and adds it to the checksum.
func (b *BackupWriter) write() error {
	b.line = append(b.line, '\n')
	b.sum.Write(b.line)
	if _, err := b.zip.Write(b.line); err != nil {
		return fmt.Errorf("writing a backup: %w", err)
	}
	return nil
}

// Add writes the map of an issue; issues come in the order of their ids.
func (b *BackupWriter) Add(issue int64, parents threads.ParentMap) error {
	b.trailer.Issues++
	b.trailer.Relations += int64(len(parents))
	b.line = append(b.line[:0], `{"issueId":"`...)
	b.line = strconv.AppendInt(b.line, issue, 10)
	b.line = append(b.line, `","parents":`...)
	b.line = append(parents.AppendJSON(b.line), '}')
	return b.write()
}

// Close writes the trailer. A backup without it is none.
func (b *BackupWriter) Close() error {
	b.trailer.SHA256 = hex.EncodeToString(b.sum.Sum(nil))
	trailer, err := json.Marshal(b.trailer)
	if err != nil {
		return fmt.Errorf("ending a backup: %w", err)
	}
	if _, err := b.zip.Write(append(trailer, '\n')); err != nil {
		return fmt.Errorf("ending a backup: %w", err)
	}
	if err := b.zip.Close(); err != nil {
		return fmt.Errorf("ending a backup: %w", err)
	}
	return nil
}

// BackupReader reads a backup.
type BackupReader struct {
	in      *bufio.Reader
	sum     hash.Hash
	last    int64
	Header  BackupHeader
	Trailer BackupTrailer // once Next has given io.EOF
	seen    BackupTrailer
}

func errBackup(cause error, format string, args ...any) error {
	message := "The file is not a complete backup: " + fmt.Sprintf(format, args...) + " Nothing was changed."
	if errors.Is(cause, io.EOF) {
		cause = io.ErrUnexpectedEOF // Next says io.EOF of a whole one alone
	}
	if cause == nil {
		return fault.New(fault.Invalid, "%s", message)
	}
	return fault.Wrap(cause, fault.Invalid, "%s", message)
}

// NewBackupReader reads the header: fault.Invalid when it is that of no backup.
func NewBackupReader(r io.Reader) (*BackupReader, error) {
	zip, err := gzip.NewReader(r)
	if isDamage(err) || errors.Is(err, io.EOF) || cut(err) {
		return nil, errBackup(err, "it is not a gzip file.")
	}
	if err != nil {
		return nil, err
	}
	b := &BackupReader{in: bufio.NewReaderSize(zip, 64<<10), sum: sha256.New()}
	line, err := b.line()
	if err != nil {
		return nil, err
	}
	b.sum.Write(line)
	if err := json.Unmarshal(line, &b.Header); err != nil || b.Header.Format != backupFormat {
		return nil, errBackup(err, "its first line is not that of a backup.")
	}
	if b.Header.Version != backupVersion {
		return nil, errBackup(nil, "it has version %d, and this release knows %d.", b.Header.Version, backupVersion)
	}
	return b, nil
}

// CheckBackup reads a backup to its end and gives it for its first line and its
// last: fault.Invalid where it is damaged, cut off, or none.
func CheckBackup(r io.Reader) (*BackupReader, error) {
	b, err := NewBackupReader(r)
	for err == nil {
		_, err = b.Next()
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// line reads a line with its end.
func (b *BackupReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := b.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxBackupLine:
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, errBackup(nil, "a line is too long.")
		case errors.Is(err, io.EOF), cut(err):
			return nil, errBackup(err, "it is cut off.")
		case isDamage(err):
			return nil, errBackup(err, "it is damaged.")
		default:
			return nil, err
		}
	}
}

// Next returns the next issue, and io.EOF after the last one once everything has
// been held to the trailer.
func (b *BackupReader) Next() (threads.IssueMap, error) {
	line, err := b.line()
	if err != nil {
		return threads.IssueMap{}, err
	}
	if !bytes.HasPrefix(line, []byte(`{"issueId"`)) {
		return threads.IssueMap{}, b.end(line)
	}
	b.sum.Write(line)
	var entry struct {
		IssueID string          `json:"issueId"`
		Parents json.RawMessage `json:"parents"`
	}
	if err := json.Unmarshal(line, &entry); err != nil {
		return threads.IssueMap{}, errBackup(err, "the line of issue %d is damaged.", b.seen.Issues+1)
	}
	var m threads.IssueMap
	if m.CloudIssueID, err = strconv.ParseInt(entry.IssueID, 10, 64); err == nil {
		m.Parents, err = threads.ParseParentMap(entry.Parents)
	}
	if err != nil || b.seen.Issues > 0 && m.CloudIssueID <= b.last {
		return threads.IssueMap{}, errBackup(err, "the line of issue %d is damaged.", b.seen.Issues+1)
	}
	b.last = m.CloudIssueID
	b.seen.Issues++
	b.seen.Relations += int64(len(m.Parents))
	return m, nil
}

// end holds everything to the trailer; nothing may follow it.
func (b *BackupReader) end(line []byte) error {
	b.seen.SHA256 = hex.EncodeToString(b.sum.Sum(nil))
	if err := json.Unmarshal(line, &b.Trailer); err != nil || b.Trailer != b.seen {
		return errBackup(err, "its checksum does not fit.")
	}
	switch _, err := b.in.ReadByte(); {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err == nil:
		return errBackup(nil, "something follows its end.")
	case cut(err), isDamage(err):
		return errBackup(err, "it is damaged.")
	default:
		return err
	}
}
