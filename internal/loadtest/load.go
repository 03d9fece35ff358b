package loadtest

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"outrigger/internal/work"
)

// Load posts signed webhooks. Each channel's events are numbered from 1 and
// posted by one connection, the next only after the one before was answered,
// or its connection broke: so the order in which they were acknowledged is
// the order of their numbers. Like the platform, it never posts one again.
type Load struct {
	Addresses   []string // of the nodes; a connection that breaks goes on at the next one
	Path        string   // "/hooks/bench" of a node
	Channels    int
	Connections int // at most Channels
	Fresh       int // of the connections: how many are dialled for each post
	Each        int // how many events of each channel Run posts at most; 0: until its ctx ends

	undialled atomic.Int64

	run    string // tells the request ids of this load from those of another
	bodies []Body
	posts  [][]Post
}

// Post is one event that was sent.
type Post struct {
	Due    time.Time     // when it should be sent: when it was, unless the load is paced
	Took   time.Duration // from Due to the answer
	Status int           // 0: no answer
}

// Acknowledged reports whether the sender was promised that the event is kept.
func (p Post) Acknowledged() bool { return p.Status/100 == 2 }

// NewLoad makes a load on nodes' connection.
func NewLoad(channels, connections int, addresses ...string) *Load {
	l := &Load{
		Addresses:   addresses,
		Path:        "/hooks/" + Connection,
		Channels:    channels,
		Connections: min(connections, channels),
		run:         rand.Text()[:12],
		bodies:      make([]Body, channels),
		posts:       make([][]Post, channels),
	}
	for c := range channels {
		l.bodies[c] = NewBody(c)
	}
	return l
}

// Posts are the events of a channel that were sent, in order; event 1 is
// first. Not while Run runs.
func (l *Load) Posts(channel int) []Post { return l.posts[channel] }

// Acknowledged counts the events that were.
func (l *Load) Acknowledged() int {
	n := 0
	for _, posts := range l.posts {
		for _, p := range posts {
			if p.Acknowledged() {
				n++
			}
		}
	}
	return n
}

// Refused counts what a sender would have lost: posts that were not
// acknowledged, and connections that could not be made.
func (l *Load) Refused() int {
	n := int(l.undialled.Load())
	for _, posts := range l.posts {
		for _, p := range posts {
			if !p.Acknowledged() {
				n++
			}
		}
	}
	return n
}

// Statuses counts the posts by the status of their answer.
func (l *Load) Statuses() map[int]int {
	count := map[int]int{}
	for _, posts := range l.posts {
		for _, p := range posts {
			count[p.Status]++
		}
	}
	return count
}

// RequestIDs are the X-Request-Id of all that were acknowledged. The load must
// not run.
func (l *Load) RequestIDs() []string {
	var ids []string
	for channel, posts := range l.posts {
		for i, p := range posts {
			if p.Acknowledged() {
				ids = append(ids, string(l.appendRequestID(nil, channel, i+1)))
			}
		}
	}
	return ids
}

func (l *Load) appendRequestID(b []byte, channel, seq int) []byte {
	b = append(b, l.run...)
	b = append(b, '-')
	b = strconv.AppendInt(b, int64(channel), 10)
	b = append(b, '-')
	return strconv.AppendInt(b, int64(seq), 10)
}

// Run posts until ctx ends, or until each channel had its share: rate events a second altogether, or, with 0, as
// fast as answers come. It may be called again, and then goes on counting.
func (l *Load) Run(ctx context.Context, rate float64) {
	var wg sync.WaitGroup
	for i := range l.Connections {
		c := &connection{load: l, address: i, fresh: i < l.Fresh, signer: newSigner(webhookSecret)}
		for ch := i; ch < l.Channels; ch += l.Connections {
			c.channels = append(c.channels, ch)
		}
		if rate > 0 {
			c.every = time.Duration(float64(time.Second) * float64(l.Connections) / rate)
			c.first = time.Duration(float64(c.every) * float64(i) / float64(l.Connections))
		}
		wg.Go(func() { c.run(ctx) })
	}
	wg.Wait()
}

// connection is one client with the channels that it posts for.
type connection struct {
	load     *Load
	channels []int
	every    time.Duration // 0: at once
	first    time.Duration
	fresh    bool // each post has one of its own
	signer   *signer

	address int // counts up with every connection that broke
	conn    net.Conn
	in      *bufio.Reader
	request []byte
	body    []byte
}

func (c *connection) run(ctx context.Context) {
	defer c.close()
	due := time.Now().Add(c.first)
	for i := 0; c.load.Each == 0 || i < c.load.Each*len(c.channels); i++ {
		if c.every > 0 {
			_ = work.Sleep(ctx, time.Until(due))
		} else {
			due = time.Now()
		}
		if ctx.Err() != nil || !c.connect(ctx) {
			return
		}
		channel := c.channels[i%len(c.channels)]
		status := c.post(channel, len(c.load.posts[channel])+1)
		c.load.posts[channel] = append(c.load.posts[channel], Post{Due: due, Took: time.Since(due), Status: status})
		if c.fresh {
			c.close()
		}
		due = due.Add(c.every)
	}
}

// redial is the pause before a node that refused is tried again.
const redial = 5 * time.Millisecond

func (c *connection) connect(ctx context.Context) bool {
	for c.conn == nil {
		to := c.load.Addresses[c.address%len(c.load.Addresses)]
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", to)
		if err == nil {
			c.conn, c.in = conn, bufio.NewReader(conn)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		c.address++
		c.load.undialled.Add(1)
		_ = work.Sleep(ctx, redial)
	}
	return true
}

// answerTime is longer than anything that a node lets a sender wait.
const answerTime = 30 * time.Second

// post sends one event and gives the status of the answer, or 0.
func (c *connection) post(channel, seq int) int {
	c.body = c.load.bodies[channel].Append(c.body[:0], seq)
	c.request = c.appendRequest(c.request[:0], channel, seq)
	c.conn.SetDeadline(time.Now().Add(answerTime))
	if _, err := c.conn.Write(c.request); err != nil {
		c.broke()
		return 0
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.broke()
		return 0
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err != nil || resp.Close {
		c.broke()
	}
	return resp.StatusCode
}

func (c *connection) appendRequest(b []byte, channel, seq int) []byte {
	b = append(b, "POST "...)
	b = append(b, c.load.Path...)
	b = append(b, " HTTP/1.1\r\nHost: node\r\nContent-Type: application/json; charset=utf-8\r\nX-Event-Key: "+EventKey+"\r\nX-Request-Id: "...)
	b = c.load.appendRequestID(b, channel, seq)
	b = append(b, "\r\nX-Hub-Signature: "...)
	b = c.signer.appendHeader(b, c.body)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(c.body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, c.body...)
}

func (c *connection) broke() {
	c.close()
	c.address++
}

func (c *connection) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}
