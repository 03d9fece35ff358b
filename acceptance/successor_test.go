package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/loadtest"
)

// replace puts what is at from in the place of a program, as an upgrade does.
func replace(t *testing.T, program, from string) {
	t.Helper()
	next := program + ".new"
	if err := os.Link(from, next); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, program); err != nil {
		t.Fatal(err)
	}
}

const (
	neverStopped = "the restart failed; this process goes on serving"
	servesAgain  = "the restart failed; this process serves again"
)

// A successor that fails, whenever it does, leaves the old process serving, and
// nothing that comes meanwhile is refused. Then a good one takes over.
func TestSuccessorThatFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string // of what is in the program's place; %s is the program
		says, why    string // in the log
	}{
		{"it is another program", "exec false # %s", neverStopped, "does not know how to take over"},
		{"it is of an older release", `exec env -u LISTEN_FDS -u OUTRIGGER_PREDECESSOR %s "$@"`, neverStopped, "does not know how to take over"},
		{"its settings are wrong", `OUTRIGGER_LISTEN=nowhere exec %s "$@"`, neverStopped, "before it could take over"},
		{"it takes no mail", `OUTRIGGER_MAIL_LISTEN=off exec %s "$@"`, neverStopped, "before it could take over"},
		{"it hangs", "exec sleep 1000 # %s", neverStopped, "was not ready to take over within"},
		{"it has another key", `OUTRIGGER_SECRET_KEY=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= exec %s "$@"`, servesAgain, "before it could take over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const channels = 8
			sink := newSink(t, channels)
			folder := t.TempDir()
			program, bad := filepath.Join(folder, "outrigger"), filepath.Join(folder, "bad")
			replace(t, program, binary)
			if err := os.WriteFile(bad, fmt.Appendf(nil, "#!/bin/sh\n"+c.script+"\n", binary), 0o700); err != nil {
				t.Fatal(err)
			}
			p := nodeOf(t, program, loadtest.Settings{MailListen: freeAddress(t)})
			start(t, p)
			if err := p.SaveChannelRules(t.Context(), channels, sink.URL()); err != nil {
				t.Fatal(err)
			}
			load := loadtest.NewLoad(channels, channels, p.Addr())
			load.Fresh = channels / 2
			stopLoad := background(t, load, 50)
			for times := range 2 {
				starts := count(t, p, "ready")
				replace(t, program, bad)
				askForSuccessor(t, p)
				if c.name == "it hangs" {
					until(t, patience, "no successor is started", func() bool { return count(t, p, "started the successor") > 2*times })
					const ignored = "SIGUSR2 was ignored: the server is starting, or a restart is under way"
					askForSuccessor(t, p)
					until(t, patience, "a second signal is not ignored", func() bool { return count(t, p, ignored) == times+1 })
				}
				until(t, patience, "the log does not say that it failed", func() bool { return count(t, p, c.says) == times+1 })
				if line := last(t, p, c.says); line.Level != "ERROR" || !strings.Contains(line.Error, c.why) {
					t.Errorf("the log says %+v", line)
				}
				replace(t, program, binary)
				if c.says == servesAgain {
					until(t, patience, "it does not start again", func() bool { return count(t, p, "ready") > starts })
				}
				succeed(t, p)
			}
			pass(t, time.Second)
			stopLoad()
			if n := load.Refused(); n > 0 {
				t.Errorf("%d webhooks were refused: %v", n, load.Statuses())
			}
			await(t, load, sink, patience, 0)
			if took, err := p.Stop(); err != nil || took > stopTime {
				t.Errorf("the last of them stopped in %s: %v", took, err)
			}
		})
	}
}

func askForSuccessor(t *testing.T, p *loadtest.Process) {
	t.Helper()
	if err := p.AskForSuccessor(); err != nil {
		t.Fatal(err)
	}
}

// count is how many lines of the log have a message.
func count(t *testing.T, p *loadtest.Process, msg string) int {
	t.Helper()
	lines, err := p.Lines(msg)
	if err != nil {
		t.Fatal(err)
	}
	return len(lines)
}
