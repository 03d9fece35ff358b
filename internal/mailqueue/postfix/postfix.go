// Package postfix reads the sizes of the local Postfix's queue from
// `postqueue -j`, whose output postqueue(1) describes under JSON OBJECT FORMAT:
// one object for each queue file, as a stream.
package postfix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

const (
	// runTime is how long a listing may take. A monitor waits for it.
	runTime = 10 * time.Second
	// killTime is how long a killed run may keep its output open.
	killTime = time.Second
	// maxComplaint is how much of standard error is kept: Postfix says what is
	// wrong in one line.
	maxComplaint = 2 << 10
)

// Source is the local Postfix. Make one with New, and Close it.
type Source struct {
	program   string
	configDir string
	limit     time.Duration // runTime; tests shorten it

	life context.Context
	end  context.CancelFunc

	asked   singleflight.Group // the run that has not begun yet, for everybody who waits for it
	running sync.Mutex
}

// New makes a Source of the program postqueue at a path; configDir is Postfix's
// configuration folder, "" for its own.
func New(program, configDir string) *Source {
	life, end := context.WithCancel(context.Background())
	return &Source{program: program, configDir: configDir, limit: runTime, life: life, end: end}
}

// Close ends a run that is under way.
func (s *Source) Close() {
	s.end()
	s.running.Lock()
	defer s.running.Unlock()
}

// Sizes counts the queue files: those in maildrop, incoming, active and
// deferred are the queue, those on hold the error queue. One run goes on at a
// time; who asks meanwhile shares the next one, since only that sees the queue
// as it is after the question.
func (s *Source) Sizes(ctx context.Context) (mailqueue.Sizes, error) {
	listed := s.asked.DoChan("", func() (any, error) {
		s.running.Lock()
		defer s.running.Unlock()
		s.asked.Forget("") // who asks from now on shares the next run
		return s.list(s.life)
	})
	select {
	case r := <-listed:
		sizes, _ := r.Val.(mailqueue.Sizes)
		return sizes, r.Err
	case <-ctx.Done():
		return mailqueue.Sizes{}, fault.Wrap(ctx.Err(), fault.Unavailable, "The local Postfix did not list its queue in time.")
	}
}

// list runs the program once.
func (s *Source) list(ctx context.Context) (mailqueue.Sizes, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	var args []string
	if s.configDir != "" {
		args = append(args, "-c", s.configDir)
	}
	cmd := exec.CommandContext(ctx, s.program, append(args, "-j")...)
	cmd.Env = []string{"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.WaitDelay = killTime
	said := new(complaint)
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return mailqueue.Sizes{}, err
	}
	if err := cmd.Start(); err != nil {
		return mailqueue.Sizes{}, fault.Wrap(err, fault.Unavailable, "The local Postfix cannot be asked: %s cannot be run.", s.program)
	}
	sizes, unread := count(out)
	if unread != nil {
		cancel() // the rest is not read
	}
	failed := cmd.Wait()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return mailqueue.Sizes{}, fault.Wrap(ctx.Err(), fault.Unavailable, "The local Postfix did not list its queue within %s.", s.limit)
	case unread != nil:
		return mailqueue.Sizes{}, fault.New(fault.Unavailable, "The queue listing of the local Postfix could not be parsed: %v.", unread)
	case failed != nil:
		return mailqueue.Sizes{}, fault.New(fault.Unavailable, "The local Postfix did not list its queue: %s.", said.reason(failed))
	}
	return sizes, nil
}

// complaint keeps the end of what a program says on standard error: the last
// line is the reason.
type complaint struct{ said bytes.Buffer }

func (c *complaint) Write(p []byte) (int, error) {
	c.said.Write(p)
	if over := c.said.Len() - maxComplaint; over > 0 {
		c.said.Next(over)
	}
	return len(p), nil
}

func (c *complaint) reason(failed error) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(c.said.String(), "\uFFFD")), "\n")
	if last := strings.TrimRight(lines[len(lines)-1], "."); last != "" {
		return last
	}
	return fmt.Sprint(failed)
}
