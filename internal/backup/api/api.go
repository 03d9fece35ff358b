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

// Path is where the backup is, below the base URL.
const Path = "/rest/outrigger/1.0/backup"

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
	r.Handle(rest.Route{Method: "GET", Path: Path, Access: rest.Backups, Own: true}, a.download)
	r.Handle(rest.Route{Method: "GET", Path: Path + "/confirm", Access: rest.SysAdmins}, a.state)
	r.Handle(rest.Route{Method: "POST", Path: Path + "/confirm", Access: rest.SysAdmins}, a.confirm)
}

// download answers the whole database. Its length is known beforehand, so that
// a reader can tell a backup that was cut off.
//
// A token of scope backup was made for that, by who was asked then.
func (a *API) download(w http.ResponseWriter, r *http.Request) error {
	if p := identity.From(r.Context()); p.Scope != identity.Backup {
		if err := a.Confirmed(r.Context()); err != nil && p.Token != 0 {
			return fault.Wrap(err, fault.Forbidden, "A token of scope %s alone is not enough for a backup. Use one of scope backup (outrigger tokens create --scope backup).", p.Scope)
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

func (a *API) confirm(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		KeepTokens []int64 `json:"keepTokens"`
	}
	if r.ContentLength != 0 {
		if err := rest.ReadJSON(r, &in); err != nil {
			return err
		}
	}
	if err := a.Confirmed(r.Context()); err != nil {
		return err
	}
	if err := a.Service.Confirm(r.Context(), in.KeepTokens...); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
