package db

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"time"
)

const (
	// progressEvery is how often a schema change that lasts says where it is.
	progressEvery = 10 * time.Second

	// largeDatabase is from how many bytes on a schema change that touches every
	// row is no matter of a second or two.
	largeDatabase = 256 << 20
)

// statements cuts a script after each line that ends in a semicolon and has no
// comment. What is only comments and space goes with the statement after it.
func statements(script string) (all []string) {
	var b strings.Builder
	for line := range strings.Lines(script) {
		b.WriteString(line)
		if strings.HasSuffix(strings.TrimSpace(line), ";") && !strings.Contains(line, "--") {
			all = append(all, b.String())
			b.Reset()
		}
	}
	if rest := b.String(); strings.TrimSpace(rest) != "" {
		all = append(all, rest)
	}
	return all
}

// brief is the first line of a statement, without comments.
func brief(statement string) string {
	for line := range strings.Lines(statement) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return line
		}
	}
	return ""
}

// announce says what is about to happen. A new database is not worth a word.
func (d *DB) announce(ctx context.Context, files int) error {
	size, _, err := d.Size(ctx)
	if err != nil {
		return fmt.Errorf("asking for the size of the database: %w", err)
	}
	msg := "changing the schema of the database"
	if size >= largeDatabase {
		msg += "; it is large, so this may take minutes, and meanwhile free space of up to twice its size"
	}
	d.log.Info(msg, "files", files, "database_mib", size>>20)
	return nil
}

// progress says from time to time what a schema change is doing.
type progress struct {
	log   *slog.Logger
	level slog.Level // of what is said of a file; a new database has many
	over  chan struct{}
	ended sync.WaitGroup

	mu    sync.Mutex
	doing []any // what the log is told; nil: nothing that lasts
	since time.Time
}

func startProgress(log *slog.Logger) *progress {
	p := &progress{log: log, level: slog.LevelDebug, over: make(chan struct{})}
	p.ended.Go(p.loop)
	return p
}

func (p *progress) loop() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.say()
		case <-p.over:
			return
		}
	}
}

func (p *progress) stop() {
	close(p.over)
	p.ended.Wait()
}

func (p *progress) say() {
	p.mu.Lock()
	doing, since := p.doing, p.since
	p.mu.Unlock()
	if doing != nil {
		p.log.Info("still changing the schema of the database", append(doing, "for", time.Since(since).Round(time.Second))...)
	}
}

// at notes that statement, the number'th of m, begins.
func (p *progress) at(m migration, number, statement string) {
	p.set("component", m.component, "file", path.Base(m.file), "statement", number, "sql", brief(statement))
	p.log.Debug("schema statement", p.doing...)
}

// waits notes that another program may be changing the schema.
func (p *progress) waits() { p.set("waiting", "for another node that changes it") }

func (p *progress) idle() { p.set() }

func (p *progress) set(doing ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.since = doing, time.Now()
}
