package smtpd

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// logbook is a log that may be read while others write.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// lines are those that contain every one of the words.
func (l *logbook) lines(words ...string) (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for _, line := range strings.Split(l.text.String(), "\n") {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		list = append(list, line)
	}
	return list
}

// talk has a client say everything, and returns when the server has closed.
func talk(s *Server, say string) {
	client, server := net.Pipe()
	s.start(server, false)
	go client.Write([]byte(say))
	for lines := bufio.NewScanner(client); lines.Scan(); {
	}
	client.Close()
}

// What is refused is in the log once with address and reason; what follows of
// the same kind from the same address within a minute is counted.
func TestRefusalsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		s := New(Options{
			Hostname: "relay.example", MaxMessage: 1000, MaxRecipients: 1, MaxClients: 4, Backend: &inbox{},
			Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo})),
		})
		s.Open()
		for range 5 {
			talk(s, "EHLO x\r\n"+data+"a\nb"+end+"QUIT\r\n")
		}
		talk(s, "EHLO x\r\nMAIL FROM:<a@b> SIZE=2000\r\n"+mail+rcpt+rcpt+"QUIT\r\n")
		for code, text := range map[string]string{"code=554": "without a carriage return", "code=552": "larger than", "code=452": "Too many recipients"} {
			if got := log.lines(`msg="mail was refused"`, "level=INFO", "address=127.0.0.1", code, text); len(got) != 1 {
				t.Errorf("%s is in %d lines", code, len(got))
			}
		}
		<-time.After(time.Minute + time.Second)
		synctest.Wait()
		if got := log.lines("more were refused", "code=554", "times=4"); len(got) != 1 {
			t.Errorf("the others are in %d lines", len(got))
		}
		if got := log.lines("more were refused"); len(got) != 1 {
			t.Errorf("%d lines are about others", len(got))
		}
		<-time.After(time.Minute)
		talk(s, "EHLO x\r\n"+data+"a\nb"+end+"QUIT\r\n")
		if got := log.lines(`msg="mail was refused"`, "code=554"); len(got) != 2 {
			t.Errorf("after two minutes it is in %d lines", len(got))
		}
		talk(s, "EHLO x\r\n"+data+"a\nb"+end+"QUIT\r\n")
		must(t, s.Shutdown(t.Context()))
		if got := log.lines("more were refused", "code=554", "times=1"); len(got) != 1 {
			t.Errorf("a stop leaves %d lines", len(got))
		}
	})
}

// Addresses without end have the log be no longer, and fill no memory.
func TestRefusalsOfManyAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		l := newRefusalLog(slog.New(slog.NewTextHandler(&log, nil)))
		for i := range 2 * maxRefusalKinds {
			l.add(fmt.Sprintf("192.0.%d.%d", i/256, i%256), replyBareLF)
		}
		if got := len(l.kinds); got > maxRefusalKinds+1 {
			t.Errorf("%d kinds are kept", got)
		}
		if got := log.lines("mail was refused"); len(got) != maxRefusalKinds+1 {
			t.Errorf("%d lines", len(got))
		}
		l.flush()
		if got := log.lines("more were refused", `address=others`, fmt.Sprint("times=", maxRefusalKinds-1)); len(got) != 1 {
			t.Errorf("the others are in %d lines", len(got))
		}
	})
}
