// Package app is the process as a value: New wires the parts, Start serves,
// Stop tears down in the reverse order by named steps. Nothing else knows all
// parts; several Apps may run in one process.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/alerts"
	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/diagnosis"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/restart"
	"outrigger/internal/retention"
	"outrigger/internal/secret"
)

// Options are what a process has besides its settings. The zero value will do.
type Options struct {
	Log      *slog.Logger         // nil: nothing is logged
	Registry *prometheus.Registry // what /metrics shows; nil: one of its own
	Clock    func() time.Time     // nil: time.Now
	Commit   string               // what the program was built from, for /metrics
	Version  string               // shown in the console, to chat platforms, in the cluster

	// Reload reads the settings that hold at a start from now on, with warnings; nil:
	// they are not read again. Level is that of Log, which a reload may set; nil: it
	// stays as it is.
	Reload func() (*config.Config, []string, error)
	Level  *slog.LevelVar

	// Recent are the last lines of Log, for a diagnosis; nil: it has none.
	Recent *diagnosis.Lines

	// NewDatabase lets a start make an empty SQLite database in a data folder
	// that has the key of another.
	NewDatabase bool
	// ExistingDatabase refuses a start where there is no database yet.
	ExistingDatabase bool
	// Hold has nothing sent until an administrator confirms it.
	Hold bool

	// PasswordCost is that of each password that is set; zero: as OWASP advises.
	PasswordCost identity.PasswordCost

	// Sockets are those to listen on, where another process had them or will.
	Sockets *restart.Sockets
	// Wait, where it is not nil, is called when the start has got as far as it
	// can without the database, which another process has until Wait returns.
	Wait func(context.Context) error
}

// App is the whole program. Make one with New; it starts once.
type App struct {
	hostName string // of a demo: the name that its URL has in place of the listener's address

	cfg      *config.Config
	o        Options
	log      *slog.Logger
	registry *prometheus.Registry
	clock    func() time.Time

	present   atomic.Pointer[config.Config]
	level     *slog.LevelVar
	reloading sync.Mutex

	startupGate  *startupGate
	listener     *rest.Listener
	front        *http.Server
	addr         net.Addr
	failed       chan error
	checks       []check        // of being ready
	certificates []*certificate // of the listeners
	ground
	web
	chat          chat
	alerts        *alerts.Service // nil: no channel is told
	mail          mail
	threadsSource threadsSource
	threadsCloud  threadsCloud
	sharers       sharers
	sending       endings
	held          heldSending
	disk          diskWatch
	retention     atomic.Pointer[retention.Retention] // nil until it begins

	databaseFree atomic.Bool // it was closed in order

	mu    sync.Mutex // held while starting and stopping
	state lifecycle
	steps steps
}

type lifecycle int

const (
	fresh lifecycle = iota
	started
	stopped
)

// New makes a process of the settings, without touching anything outside it.
// The error names every setting that is wrong.
func New(cfg *config.Config, o Options) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Level == nil {
		o.Level = new(slog.LevelVar)
	}
	a := &App{
		cfg: cfg, o: o, log: o.Log, registry: o.Registry, clock: o.Clock, level: o.Level,
		ground:      ground{nodeID: cfg.NodeID},
		startupGate: newStartupGate(basePath(cfg.BaseURL)),
		failed:      make(chan error, 1),
		steps:       steps{log: o.Log, grace: graceTime},
	}
	a.disk.space, a.disk.log = db.SpaceOf, a.logSize
	a.present.Store(cfg)
	return a, nil
}

// basePath returns the path under which everything is served, such as "/outrigger", or "".
func basePath(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}

var (
	errStartedBefore = errors.New("the process was started before")
	errStopped       = errors.New("the process was stopped")
)

// parts lists what a start does, in order.
func (a *App) parts() []func(context.Context) error {
	return []func(context.Context) error{
		a.listen,
		a.listenMail,
		a.takeOver,
		a.openDatabase,
		a.openSecrets,
		a.startIdentity,
		a.newBackup,
		a.joinCluster,
		a.startLeases,
		a.openWeb,
		a.openOutgoing,
		a.openNotify,
		a.openSingleSignOn,
		a.openSettings,
		a.openBackup,
		a.openMail,
		a.openThreadsSource,
		a.openThreadsCloud,
		a.openAlerts,
		a.serve,
		a.startNotify,
		a.startMail,
		a.startThreadsSource,
		a.startThreadsCloud,
		a.startAlerts,
		a.startRetention,
	}
}

// Start opens the listener, starts every part and returns when the process is
// ready. When a part cannot start, or ctx ends, it undoes what was done and
// returns why. ctx is for the start only.
func (a *App) Start(ctx context.Context) error {
	return a.start(ctx, a.parts())
}

// StartAccounts, in place of Start, opens the database and returns the accounts
// in it, for commands that work without a server. It takes this node's place
// in the database: a server with the same data folder must not run.
func (a *App) StartAccounts(ctx context.Context) (*identity.Service, error) {
	err := a.startCommand(ctx, a.openDatabase, a.startIdentity)
	return a.identity, err
}

// startCommand starts what a command needs that works on the database itself.
func (a *App) startCommand(ctx context.Context, parts ...func(context.Context) error) error {
	if !a.cfg.DatabaseURL.IsZero() {
		// Beside the servers that share the database, one of this node included.
		a.nodeID = "command-" + secret.Random(6)
	}
	return a.start(ctx, parts)
}

func (a *App) start(ctx context.Context, parts []func(context.Context) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.state {
	case started:
		return errStartedBefore
	case stopped:
		return errStopped
	}
	a.state = started
	for _, part := range parts {
		err := ctx.Err()
		if err == nil {
			err = part(ctx)
		}
		if err != nil {
			return errors.Join(err, a.unwind(context.WithoutCancel(ctx), stopTime))
		}
	}
	return nil
}

// Stop takes the process down and returns what did not end in order: within
// 15 s, or when ctx ends. Stopping again does nothing.
func (a *App) Stop(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unwind(ctx, stopTime)
}

// HandOver is Stop for a successor that waits, within 8 s. free reports whether
// this process has closed the database; if not, the process must end first.
func (a *App) HandOver(ctx context.Context) (free bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err = a.unwind(ctx, handOverTime)
	return a.databaseFree.Load(), err
}

func (a *App) unwind(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	a.state = stopped
	a.startupGate.stop()
	return a.steps.unwind(ctx, within)
}

// Failed returns the reason why a process that was started cannot continue; the
// caller should stop it. After db.ErrDisk it should exit at once instead.
func (a *App) Failed() <-chan error { return a.failed }

// fail notes why the process cannot go on; the first reason is kept.
func (a *App) fail(err error) {
	select {
	case a.failed <- err:
	default:
	}
}

// Addr is where the process listens, such as 127.0.0.1:8090; "" before Start.
func (a *App) Addr() string {
	if a.addr == nil {
		return ""
	}
	return a.addr.String()
}

// URL is where users and platforms reach the process: base_url, else the
// listener's address.
func (a *App) URL() string {
	if a.cfg.BaseURL != "" {
		return strings.TrimRight(a.cfg.BaseURL, "/")
	}
	scheme := "http"
	if a.cfg.TLS.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + a.host()
}

// host is the host and port of the URL for browsers on this machine.
func (a *App) host() string {
	_, port, err := net.SplitHostPort(a.Addr())
	if a.hostName == "" || err != nil {
		return reachable(a.addr)
	}
	return net.JoinHostPort(a.hostName, port)
}

// reachable returns an address at which a client on this machine reaches a listener that
// may listen at all addresses.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return ""
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}
