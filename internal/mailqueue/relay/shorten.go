package relay

import (
	"bytes"
	"io"
	"regexp"

	"outrigger/internal/mailqueue/relay/reencode"
	"outrigger/internal/mailqueue/relay/smtpclient"
)

// aboutLines is what servers say of a line that is too long for them: "line too
// long", "maximum allowed line length is 998 octets".
var aboutLines = regexp.MustCompile(`(?i)\blines?\b.*\b(long|length|limit)|\b(long|limit)\b.*\blines?\b`)

// refusesLine reports whether the smarthost refused a message for the length of
// its lines. RFC 5321, 4.5.3.1.9, has 500 for it, which means nothing else
// there.
func refusesLine(res *smtpclient.Result) bool {
	return res.End.Code == 500 || res.End.Code > 500 && aboutLines.MatchString(res.End.Text())
}

// shorten returns a message with short lines; nil where that cannot be: a
// signature covers it, or it is not what mail is.
func (w *worker) shorten(j *job) *short {
	r, err := w.open(j)
	if err != nil {
		return nil
	}
	defer r.Close()
	s := w.queue.codec.spool(w.queue.o.Dir)
	defer s.close()
	if err := reencode.ShortLines(s, r); err != nil {
		w.o.Log.Info("a message has lines too long for the smarthost and cannot be re-encoded", "message", j.id, "error", err)
		return nil
	}
	body, pieces, err := s.finish()
	if err != nil {
		return nil
	}
	return &short{codec: w.queue.codec, size: s.size, body: body, pieces: pieces}
}

// short is a message with short lines, compressed.
type short struct {
	codec  *codec
	size   int64
	body   []byte
	pieces [][]byte
}

func (s *short) open() (io.ReadCloser, error) {
	if s.pieces == nil {
		text, err := s.codec.dec.DecodeAll(s.body, nil)
		return io.NopCloser(bytes.NewReader(text)), err
	}
	rest := s.pieces
	return s.codec.open(func() ([]byte, error) {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		piece := rest[0]
		rest = rest[1:]
		return piece, nil
	})
}
