package source

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"testing"
)

// playedMySQL speaks as much of MySQL's protocol as one client of one query
// needs: it checks the password, answers every SELECT of a key range from rows
// (issue, comment, parent; "" is NULL) and everything else with OK.
type playedMySQL struct {
	t        *testing.T
	user, db string
	password string
	columns  [3]string
	query    string
	rows     [][3]string // ordered by comment
	asked    []string
}

var keyRange = regexp.MustCompile(`^SELECT (q\.\S+, q\.\S+, q\.\S+) FROM \((.*)\) AS q WHERE (q\.\S+) > (-?\d+) ORDER BY (q\.\S+) LIMIT (\d+)$`)

// start listens, and returns the address.
func (m *playedMySQL) start() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			m.serve(conn)
			conn.Close()
		}
	}()
	m.t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// wire is one connection.
type wire struct {
	net.Conn
	in  *bufio.Reader
	seq byte
}

func (w *wire) packet() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return nil, err
	}
	w.seq = head[3] + 1
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err := io.ReadFull(w.in, body)
	return body, err
}

func (w *wire) send(body []byte) {
	n := len(body)
	_, _ = w.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), w.seq}, body...)) // the client reads, or is gone
	w.seq++
}

func (w *wire) ok()  { w.send([]byte{0, 0, 0, 2, 0, 0, 0}) }
func (w *wire) eof() { w.send([]byte{0xfe, 0, 0, 2, 0}) }
func (w *wire) refuse(text string) {
	w.send(append([]byte{0xff, 0x15, 0x04, '#'}, "28000"+text...))
}

const scramble = "0123456789abcdefghij"

func (m *playedMySQL) serve(conn net.Conn) {
	w := &wire{Conn: conn, in: bufio.NewReader(conn)}
	const caps = 0x00080000 | 0x8000 | 0x2000 | 0x200 | 0x8 | 0x1
	hello := append([]byte{10}, "8.0.0-played\x00\x01\x00\x00\x00"+scramble[:8]+"\x00"...)
	hello = binary.LittleEndian.AppendUint16(hello, caps&0xffff)
	hello = append(hello, 45, 2, 0)
	hello = binary.LittleEndian.AppendUint16(hello, caps>>16)
	hello = append(hello, 21)
	w.send(append(hello, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"+scramble[8:]+"\x00mysql_native_password\x00"...))
	answer, err := w.packet()
	if err != nil || !m.admits(answer) {
		w.refuse("Access denied")
		return
	}
	w.ok()
	for {
		command, err := w.packet()
		if err != nil || command[0] == 1 { // COM_QUIT
			return
		}
		if command[0] == 3 { // COM_QUERY
			m.answer(w, string(command[1:]))
		} else {
			w.ok()
		}
	}
}

// admits checks user, password and database.
func (m *playedMySQL) admits(answer []byte) bool {
	user, rest, _ := bytes.Cut(answer[32:], []byte{0})
	proof, rest := rest[1:1+rest[0]], rest[1+rest[0]:]
	db, _, _ := bytes.Cut(rest, []byte{0})
	hash := sha1.Sum([]byte(m.password))
	twice := sha1.Sum(hash[:])
	want := sha1.Sum(append([]byte(scramble), twice[:]...))
	for i := range want {
		want[i] ^= hash[i]
	}
	return string(user) == m.user && string(db) == m.db && bytes.Equal(proof, want[:])
}

func (m *playedMySQL) answer(w *wire, query string) {
	m.asked = append(m.asked, query)
	probe := "SELECT * FROM (" + m.query + ") AS q WHERE 1 = 0"
	parts := keyRange.FindStringSubmatch(query)
	switch {
	case query == probe:
		m.table(w, nil)
	case parts != nil && parts[2] == m.query && parts[3] == parts[5]:
		after, _ := strconv.ParseInt(parts[4], 10, 64)
		limit, _ := strconv.Atoi(parts[6])
		var rows [][3]string
		for _, r := range m.rows {
			if comment, _ := strconv.ParseInt(r[1], 10, 64); comment > after && len(rows) < limit {
				rows = append(rows, r)
			}
		}
		m.table(w, rows)
	case len(query) > 6 && query[:6] == "SELECT":
		w.refuse(fmt.Sprintf("unexpected %q", query))
	default:
		w.ok()
	}
}

func (m *playedMySQL) table(w *wire, rows [][3]string) {
	text := func(b []byte, s string) []byte { return append(append(b, byte(len(s))), s...) }
	w.send([]byte{3})
	for _, name := range m.columns {
		b := text(text(text(text(nil, "def"), m.db), "q"), "q")
		b = append(text(text(b, name), name), 0x0c, 63, 0, 20, 0, 0, 0, 8, 0, 0, 0, 0, 0)
		w.send(b)
	}
	w.eof()
	for _, row := range rows {
		var b []byte
		for _, value := range row {
			if value == "" {
				b = append(b, 0xfb)
			} else {
				b = text(b, value)
			}
		}
		w.send(b)
	}
	w.eof()
}
