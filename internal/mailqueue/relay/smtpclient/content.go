package smtpclient

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"
)

// blockSize is how much of a message is read at a time.
const blockSize = 32 << 10

// asText sends the message as DATA has it, up to the dot that completes it.
func (t *transaction) asText() {
	if !t.copy(&stuffer{out: t.out, begin: true}) {
		return
	}
	if !t.mayEnd() {
		t.Unsent = true
		return
	}
	t.out.WriteString(".\r\n")
	t.complete()
}

// inChunk sends it as one chunk of BDAT, which changes nothing of a message
// that ends in the middle of a line.
func (t *transaction) inChunk() {
	t.say("BDAT " + strconv.FormatInt(t.m.Size, 10) + " LAST")
	last := &withholder{out: t.out}
	if !t.copy(last) {
		return
	}
	if !t.mayEnd() {
		t.Unsent = true
		return
	}
	last.release()
	t.complete()
}

func (t *transaction) mayEnd() bool { return t.m.MayEnd == nil || t.m.MayEnd() }

// copy sends the content. When it cannot be read, nothing was sent; when it
// cannot be written, the smarthost may have said why.
func (t *transaction) copy(to io.Writer) bool {
	if t.block == nil {
		t.block = make([]byte, blockSize)
	}
	for {
		n, err := t.m.Content.Read(t.block)
		t.conn.SetDeadline(time.Now().Add(blockTime))
		if _, failed := to.Write(t.block[:n]); failed != nil {
			t.conn.SetReadDeadline(time.Now().Add(lastWordsTime))
			if t.End, _ = readReply(t.in); t.End.Code < 400 {
				t.End = Reply{} // it took nothing that was not completed
			}
			t.Err = failed
			return false
		}
		if err == io.EOF {
			return true
		}
		if err != nil {
			t.Err, t.Unsent = err, true
			return false
		}
	}
}

func (t *transaction) complete() {
	t.open = false
	t.End, t.Err = t.answer(endTime)
	if t.Err == nil && t.End.Code == 421 {
		t.Err = errGone
	}
}

// stuffer doubles a dot that begins a line: RFC 5321, 4.5.2.
type stuffer struct {
	out   *bufio.Writer
	begin bool // of a line
}

func (s *stuffer) Write(p []byte) (n int, err error) {
	n = len(p)
	for len(p) > 0 && err == nil {
		if s.begin && p[0] == '.' {
			s.out.WriteByte('.')
		}
		piece := p
		if i := bytes.Index(p, []byte("\n.")); i >= 0 {
			piece = p[:i+1]
		}
		s.begin = piece[len(piece)-1] == '\n'
		_, err = s.out.Write(piece)
		p = p[len(piece):]
	}
	return n, err
}

// withholder keeps the last byte back.
type withholder struct {
	out  *bufio.Writer
	last []byte
}

func (w *withholder) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	w.release()
	w.last = append(w.last[:0], p[len(p)-1])
	_, err := w.out.Write(p[:len(p)-1])
	return len(p), err
}

func (w *withholder) release() {
	w.out.Write(w.last)
	w.last = w.last[:0]
}
