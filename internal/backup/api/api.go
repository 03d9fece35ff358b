// Package api is the backup in the REST API.
package api

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/backup"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// Path is where the backup is, ConfirmPath where a restore is confirmed.
const (
	Path        = "/rest/outrigger/1.0/backup"
	ConfirmPath = Path + "/confirm"
)

// API answers from a Service.
type API struct {
	Service *backup.Service
	Clock   func() time.Time
	// Confirmed is nil where who asks has shown the password or a second factor
	// lately.
	Confirmed func(ctx context.Context) error
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	rest.Serve[struct{}, rest.None](r, rest.Route{Method: "GET", Path: Path, Access: rest.Backups, Own: true}, rest.Words{
		ID: "getBackup", Tag: "operation", Summary: "Downloads a backup of the whole database.", Media: []string{"application/vnd.sqlite3"},
		Text: "Needs `SYS_ADMIN`, and more than a token of another scope than `backup`, which is for this alone: password hashes are " +
			"in it. See `Outrigger-Code`. A SQLite database. Webhook URLs, tokens and secrets in it are encrypted with the server's key, " +
			"which is not in it: keep that too. The server needs as much room in `backup_dir` (the data folder) as the database has: " +
			"where less than a tenth of that disk (at most 20 GiB) would stay free, it is 503 with what is needed and what is free. With " +
			"PostgreSQL it is 409: that has its own tools. It takes the place of a database with `outrigger restore`.",
		Answer:    "The backup. Its length is in Content-Length, so that one that was cut off can be told.",
		Confirmed: true, Refused: []int{http.StatusConflict, http.StatusServiceUnavailable},
	}, a.download)
	rest.Add(r, rest.Route{Method: "GET", Path: ConfirmPath, Access: rest.SysAdmins}, rest.Words{
		ID: "getRestore", Tag: "operation", Summary: "Returns whether sending is held back after a restore, and what goes out when it begins.",
		Answer: "The state.",
		Text: "Needs `SYS_ADMIN`. While `held` is true, the server takes events and mail and sends nothing; the numbers say what " +
			"would go out once a POST to this address confirms the restore. The lists of tokens name those that the restore may have " +
			"brought back.",
	}, func(ctx context.Context, _ struct{}) (RestoreState, error) {
		return StateOf(ctx, a.Service)
	}, rest.Example[struct{}, RestoreState]{Name: "held", Out: &heldState})
	rest.Add(r, rest.Route{Method: "POST", Path: ConfirmPath, Access: rest.SysAdmins, Bare: true}, rest.Words{
		ID: "confirmRestore", Tag: "operation", Summary: "Lets sending begin after a restore.",
		Answer: "Sending has begun, and the tokens work again.",
		Text:   confirmText, Confirmed: true, Refused: []int{http.StatusConflict},
	}, a.confirm, rest.Example[Confirmation, rest.None]{Name: "fresh", Err: backup.ErrNotHeld()})
}

const confirmText = "The server takes events and mail and sends nothing after `outrigger restore`, after a start with `--hold`, " +
	"and when a node finds an earlier state of its database, or another one than before: what waits there may have gone out " +
	"already. This lets notifications, mail and migrations go on: on this node at once, on others within seconds. 409 where nothing " +
	"is held back and `keepTokens` is empty. Needs `SYS_ADMIN`. A token alone may not do this; see `Outrigger-Code`.\n\n" +
	"A restore ends all sessions. Where the replaced database could be read (`outrigger restore` over a SQLite database), what had " +
	"ended since the backup stays so. Otherwise it is not known which tokens were revoked since: those of scope `all`, `read` and " +
	"`backup` are refused until they are named in `keepTokens`, with this request or a later one."

// download answers the whole database. Its length is known beforehand, so that
// a reader can tell a backup that was cut off.
//
// A token of scope backup was made for that, by who was asked then.
func (a *API) download(w http.ResponseWriter, r *http.Request, _ struct{}) error {
	if p := identity.From(r.Context()); p.Scope != identity.Backup {
		if err := a.Confirmed(r.Context()); err != nil && p.Token != 0 {
			return fault.Wrap(err, fault.Forbidden, "A token of scope %s alone is not enough for a backup. Use one of scope backup (outrigger "+
				"tokens create --scope backup).", p.Scope)
		} else if err != nil {
			return err
		}
	}
	h := w.Header()
	h.Set("Content-Type", "application/vnd.sqlite3") // as registered with IANA
	h.Set("Content-Disposition", `attachment; filename="outrigger-`+a.Clock().UTC().Format("20060102-150405")+`.db"`)
	if r.Method == http.MethodHead {
		return nil
	}
	file, size, err := a.Service.Make(r.Context())
	if err != nil {
		return err
	}
	defer file.Close()
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	_, _ = io.Copy(w, file) // the client sees by the length that it was cut off
	return nil
}

// Confirmation is what holds again from now on.
type Confirmation struct {
	KeepTokens []int64 `json:"keepTokens,omitempty" doc:"The ids of tokens that are refused since the restore and work again from now on."`
}

func (a *API) confirm(ctx context.Context, in Confirmation) (rest.None, error) {
	if err := a.Confirmed(ctx); err != nil {
		return rest.None{}, err
	}
	return rest.None{}, a.Service.Confirm(ctx, in.KeepTokens...)
}
