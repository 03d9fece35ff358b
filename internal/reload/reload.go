// Package reload is what can be changed while the server runs: the parts of the
// configuration that are read again, and the level of the log.
package reload

import (
	"context"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

// Path is where the configuration is read again.
const Path = "/rest/outrigger/1.0/reload"

// Reload is what reading the configuration again did.
type Reload struct {
	Node         string                  `json:"node" doc:"The node that read it; others are as they were." example:"code-1"`
	Changed      []config.ChangedSetting `json:"changed" doc:"What changed, and holds from now on."`
	NeedRestart  []string                `json:"needRestart" doc:"Other settings that differ from the running ones. They need a restart."`
	Certificates []Certificate           `json:"certificates" doc:"The certificates that the server presents; their files were read again."`
}

// Certificate is one that the server presents.
type Certificate struct {
	File     string    `json:"file" doc:"The path of its file, as tls.cert or mail.tls.cert has it." example:"/etc/outrigger/tls.pem"`
	NotAfter time.Time `json:"notAfter" doc:"When it ends."`
	Changed  bool      `json:"changed" doc:"It is another one than at the last reload, or at the start."`
}

// API answers from the functions that change a running server.
type API struct {
	Reload   func(context.Context) (Reload, error)
	Level    func() string // of the log, as in log.level
	SetLevel func(ctx context.Context, level string) error
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	a.registerLevel(r)
	rest.Add(r, rest.Route{Method: "POST", Path: Path, Access: rest.SysAdmins}, rest.Words{
		ID: "reload", Tag: "operation", Summary: "Reads the configuration again.", Answer: "What changed.",
		Text: "Needs `SYS_ADMIN`. Reads the configuration file, the environment and the files that they name, as SIGHUP does, on the " +
			"node that answers. What can hold without a restart holds from then on: the TLS files, `log.level`, `trusted_proxies` and " +
			"`notify.connections`. A configuration or a certificate that cannot be used changes nothing: 409 with the reason. What " +
			"changed is in the audit trail.",
		Refused: []int{http.StatusConflict, http.StatusServiceUnavailable},
	}, func(ctx context.Context, _ struct{}) (Reload, error) { return a.Reload(ctx) }, []rest.Example[struct{}, Reload]{
		{Name: "changed", Out: &changed, Unsent: true},
		{Name: "broken", Err: Refused("log.level: \"loud\" is not debug, info, warn or error"), Unsent: true},
		{Name: "fresh", Err: ErrNoFile()},
	}...)
}

// ErrNoFile is for a server that was given its settings in another way.
func ErrNoFile() error {
	return fault.New(fault.Conflict, "This server was started without a configuration that could be read again.")
}

// Refused is the error for a configuration that cannot be used, and why.
func Refused(reason string) error {
	if !strings.HasSuffix(reason, ".") && !strings.HasSuffix(reason, "?") {
		reason += "."
	}
	return fault.New(fault.Conflict, "The configuration cannot be used, and nothing has changed: %s", reason)
}

var changed = Reload{
	Node: "code-1",
	Changed: []config.ChangedSetting{
		{Setting: "log.level", Text: "info, now debug"},
		{Setting: "notify.connections", Text: "code: token changed; cloud added"},
	},
	NeedRestart:  []string{"retention.audit"},
	Certificates: []Certificate{{"/etc/outrigger/tls.pem", time.Date(2027, 2, 20, 12, 0, 0, 0, time.UTC), true}},
}
