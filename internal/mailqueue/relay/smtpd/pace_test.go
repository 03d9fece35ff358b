package smtpd

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A client that says a little now and then keeps its place for no longer than
// one that says nothing.
func TestDrippingClients(t *testing.T) {
	for _, c := range []struct {
		name, say string
		drip      string
		every     time.Duration
		after     time.Duration
		last      string
	}{
		{"a command", mail, "N", time.Minute, idleTime, "421 4.4.2 Timed out waiting for a command"},
		{"a message", data + head, "x", 10 * time.Second, paceGrace + time.Second, "421 4.4.2 The message arrived too slowly"},
		{"half the pace", data + head, strings.Repeat("x", paceRate/2), time.Second, 2*paceGrace + time.Second, "421 4.4.2 The message arrived too slowly"},
		{"a chunk", mail + rcpt + "BDAT 1000000 LAST\r\n", "x", 10 * time.Second, paceGrace + time.Second, "421 4.4.2 The message arrived too slowly"},
		{"many chunks", mail + rcpt, "BDAT 1\r\nx", 10 * time.Second, paceGrace + time.Second, "421 4.4.2 The message arrived too slowly"},
		{"a message that is refused", data + "a\nb", "x", time.Second, paceGrace + 2*time.Second, "554 5.6.0"},
		{"no message", mail, "NOOP\r\n", time.Minute, messageTime, "421 4.4.2 Timed out waiting for a message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, box, took, last := session(t, "EHLO x\r\n"+c.say, c.drip, c.every)
				if !strings.HasPrefix(last, c.last) {
					t.Errorf("the last word is %q", last)
				}
				if took > c.after+c.every {
					t.Errorf("it took %v, want %v", took, c.after)
				}
				must(t, s.Shutdown(t.Context()))
				if len(box.messages()) != 0 || box.opened != box.closed {
					t.Errorf("%d messages, %d begun, %d closed", len(box.messages()), box.opened, box.closed)
				}
			})
		})
	}
}

// What comes at the pace is taken, however long it takes; time that the server
// takes to keep it does not count.
func TestSlowMessagesThatKeepThePace(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration
		slow  time.Duration // each piece, to be kept
	}{
		{"at the pace", time.Second, 0},
		{"with a pause", 50 * time.Second, 0},
		{"a server that is slow", time.Millisecond, 2 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box := &inbox{slow: c.slow}
				s := New(Options{Hostname: "relay.example", MaxMessage: 25 << 20, MaxRecipients: 10, MaxClients: 10, Backend: box})
				s.Open()
				client, server := net.Pipe()
				s.start(server, false)
				go func() {
					client.Write([]byte("EHLO x\r\n" + data + head))
					for range 8 {
						<-time.After(c.every)
						piece := paceRate * max(1, int(c.every/time.Second))
						client.Write([]byte(strings.Repeat(strings.Repeat("x", 62)+"\r\n", piece/64)))
					}
					client.Write([]byte(".\r\nQUIT\r\n"))
				}()
				for lines := bufio.NewScanner(client); lines.Scan(); {
				}
				must(t, s.Shutdown(t.Context()))
				if len(box.messages()) != 1 {
					t.Errorf("%d messages were taken", len(box.messages()))
				}
			})
		})
	}
}

// session says something to a server, and then a little again and again, until
// the server has said its last word.
func session(t *testing.T, say, drip string, every time.Duration) (s *Server, box *inbox, took time.Duration, last string) {
	t.Helper()
	box = &inbox{}
	s = New(Options{Hostname: "relay.example", MaxMessage: 25 << 20, MaxRecipients: 10, MaxClients: 10, Backend: box})
	s.Open()
	client, server := net.Pipe()
	s.start(server, false)
	begun := time.Now()
	over := make(chan struct{})
	go func() {
		client.Write([]byte(say))
		for time.Since(begun) < time.Hour {
			select {
			case <-over:
				return
			case <-time.After(every):
			}
			if _, err := client.Write([]byte(drip)); err != nil {
				return
			}
		}
		client.Close()
	}()
	for lines := bufio.NewScanner(client); lines.Scan(); {
		last = lines.Text()
	}
	took = time.Since(begun)
	close(over)
	client.Close()
	synctest.Wait()
	return s, box, took, last
}
