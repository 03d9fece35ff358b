package db

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"outrigger/internal/fault"
)

const (
	// lockPatience is how long a start waits for the lock: the server takes a
	// moment to notice that a killed predecessor is gone.
	lockPatience = 2 * time.Second

	// lockWatch is how often the connection that holds the lock is tried. One
	// that the server closes is noticed at once.
	lockWatch = 2 * time.Second

	// lockRetry is the pause between attempts to have it back.
	lockRetry = 500 * time.Millisecond
)

// nodeLock says that this process is the node of its id: a session advisory
// lock, which the server drops with the connection.
type nodeLock struct {
	cfg   *pgx.ConnConfig
	id    string
	alone bool // no other node may be there
	log   *slog.Logger
	conn  *pgx.Conn
	pid   uint32        // the server's process of conn, or of the last one
	taken chan struct{} // closed when another process has the lock

	stop    context.CancelFunc
	through chan struct{}
	once    sync.Once
}

// lockNode takes the lock of the node id.
func lockNode(ctx context.Context, cfg *pgx.ConnConfig, o Options) (*nodeLock, error) {
	l := &nodeLock{cfg: cfg, id: o.NodeID, alone: o.Alone, log: o.Log, taken: make(chan struct{}), through: make(chan struct{})}
	switch err := l.acquire(ctx); {
	case errors.Is(err, errHeld):
		return nil, fault.Wrap(err, fault.Conflict, "Another process is running as node %s of this database. Stop it, or set another node_id.",
			l.id)
	case errors.Is(err, errShared):
		return nil, fault.Wrap(err, fault.Conflict, "Another node uses this database, and one of the two has cluster.enabled: "+
			"false. Set it to true on every node, or use another database.")
	case err != nil:
		return nil, public(err)
	}
	watching, stop := context.WithCancel(context.Background())
	l.stop = stop
	go l.watch(watching)
	return l, nil
}

var (
	errHeld   = errors.New("db: another session holds the node's lock")
	errShared = errors.New("db: a node that is to be alone is not")
)

// key is the number of the advisory lock.
func (l *nodeLock) key() int64 { return lockKey("node " + l.id) }

func lockKey(name string) int64 {
	sum := sha256.Sum256([]byte("outrigger " + name))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// acquire connects and takes the lock. A session of this very process that
// the server has not yet missed is ended.
func (l *nodeLock) acquire(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, l.cfg.Copy())
	if err != nil {
		return err
	}
	if l.pid != 0 {
		// Only a session that holds this node's lock: the number may be
		// another's by now.
		const ghost = `SELECT count(pg_terminate_backend(pid)) FROM pg_locks
			WHERE locktype = 'advisory' AND pid = $1 AND objsubid = 1
			AND classid::bigint = ($2::bigint >> 32) & 4294967295 AND objid::bigint = $2::bigint & 4294967295`
		if _, err := conn.Exec(ctx, ghost, l.pid, l.key()); err != nil {
			conn.Close(context.WithoutCancel(ctx))
			return fmt.Errorf("ending the session that was lost: %w", err)
		}
	}
	_, err = conn.Exec(ctx, fmt.Sprintf("SET lock_timeout = %d", lockPatience.Milliseconds()))
	if err == nil {
		err = lock(ctx, conn, "pg_advisory_lock", l.key(), errHeld)
	}
	if err == nil {
		kind := "pg_advisory_lock_shared"
		if l.alone {
			kind = "pg_advisory_lock"
		}
		err = lock(ctx, conn, kind, lockKey("company"), errShared)
	}
	if err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return err
	}
	l.conn, l.pid = conn, conn.PgConn().PID()
	return nil
}

// lock takes a lock, or gives the error held if it is taken.
func lock(ctx context.Context, conn *pgx.Conn, kind string, key int64, held error) error {
	_, err := conn.Exec(ctx, "SELECT "+kind+"($1)", key)
	var p *pgconn.PgError
	if errors.As(err, &p) && p.Code == "55P03" { // lock_not_available
		return held
	}
	return err
}

// watch keeps the lock until close, or until another process has it.
func (l *nodeLock) watch(ctx context.Context) {
	defer close(l.through)
	away := false
	for {
		l.pause(ctx)
		err := l.check(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errHeld), errors.Is(err, errShared):
			l.log.Error("another process has taken this node's place", "node_id", l.id)
			close(l.taken)
			return
		case err != nil && !away:
			l.log.Warn("the connection that holds the node's lock is lost", "node_id", l.id, "error", err)
		case err == nil && away:
			l.log.Info("the node's lock is held again", "node_id", l.id)
		}
		away = err != nil
	}
}

// pause ends when it is time to look, or when the connection breaks.
func (l *nodeLock) pause(ctx context.Context) {
	length := lockWatch
	if l.conn == nil {
		length = lockRetry
	}
	bounded, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	if l.conn == nil {
		<-bounded.Done()
		return
	}
	// No notification comes; this reads until the connection ends or time is up.
	l.conn.WaitForNotification(bounded)
}

// check asks whether the connection lives, and takes the lock again if not.
func (l *nodeLock) check(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, lockPatience+connectTime)
	defer cancel()
	if l.conn != nil {
		if l.conn.Ping(bounded) == nil {
			return nil
		}
		l.drop()
	}
	return l.acquire(bounded)
}

func (l *nodeLock) drop() {
	if l.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), connectTime)
		defer cancel()
		l.conn.Close(ctx)
		l.conn = nil
	}
}

// close lets go of the lock.
func (l *nodeLock) close() {
	l.once.Do(func() {
		l.stop()
		<-l.through
		l.drop()
	})
}
