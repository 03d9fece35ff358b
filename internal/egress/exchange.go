package egress

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

var errLongHeader = errors.New("the headers of the answer are too long")

// Connections have buffers only while a request is on them.
var (
	writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, connBuffer) }}
	readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, connBuffer) }}
)

// exchange is one request on a connection, and the body of its answer.
type exchange struct {
	d       *direct
	c       *conn
	address string
	req     *http.Request
	in      *bufio.Reader

	left     int64       // bytes that the headers of the answer may still have; -1: any number
	answered bool        // something of an answer came
	unwatch  func() bool // ends the watch over the request's context; false: it has ended the connection
	body     io.ReadCloser
	reusable bool // the answer allows another request on the connection
	ended    bool // the body was read to its end
}

func (d *direct) exchange(c *conn, address string, req *http.Request) *exchange {
	return &exchange{d: d, c: c, address: address, req: req, left: maxAnswerHeaders}
}

// run writes the request and reads the headers of its answer. On an error the
// connection is closed; the turn at the host stays the caller's.
func (x *exchange) run() (*http.Response, error) {
	ctx := x.req.Context()
	x.unwatch = context.AfterFunc(ctx, func() { x.c.SetDeadline(longAgo) })
	x.in = readers.Get().(*bufio.Reader)
	x.in.Reset(x.source())
	sent := x.send()
	resp, err := x.receive() // also when it was not sent whole: it may say why
	if err == nil {
		x.body, resp.Body = resp.Body, x
		x.reusable = sent == nil && !resp.Close && resp.StatusCode >= http.StatusOK
		x.ended = x.body == http.NoBody
		return resp, nil
	}
	x.release(false)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if sent != nil && !x.answered {
		err = sent
	}
	return nil, err
}

func (x *exchange) send() error {
	out := writers.Get().(*bufio.Writer)
	out.Reset(x.c)
	defer func() {
		out.Reset(nil)
		writers.Put(out)
	}()
	if err := x.req.Write(out); err != nil {
		return err
	}
	return out.Flush()
}

// receive reads the headers of the answer, past those that only say that it
// will come.
func (x *exchange) receive() (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(x.in, x.req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols {
			x.left = -1
			return resp, nil
		}
	}
}

// source reads from the connection what the headers may have, then any number
// of bytes.
func (x *exchange) source() io.Reader { return (*bounded)(x) }

type bounded exchange

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errLongHeader
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.c.Read(p)
	if b.left > 0 {
		b.left -= int64(n)
	}
	b.answered = b.answered || n > 0
	return n, err
}

// Read reads the body of the answer.
func (x *exchange) Read(p []byte) (int, error) {
	if x.in == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := x.body.Read(p)
	if err == io.EOF {
		x.ended = true
	} else if err != nil && x.req.Context().Err() != nil {
		err = context.Cause(x.req.Context())
	}
	return n, err
}

// Close keeps the connection if the body was read to its end, and else closes
// it.
func (x *exchange) Close() error {
	if x.in == nil {
		return nil
	}
	x.release(x.reusable && x.ended && x.in.Buffered() == 0)
	x.d.leave(x.c.host, x.address)
	return nil
}

func (x *exchange) release(keep bool) {
	x.in.Reset(nil)
	readers.Put(x.in)
	x.in = nil
	if !x.unwatch() || !keep || !x.d.keep(x.c) {
		x.c.Close()
	}
}
