// Package api is the backup in the REST API.
package api

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/backup"
	"outrigger/internal/rest"
)

// Path is where the backup is, below the base URL.
const Path = "/rest/outrigger/1.0/backup"

// API answers from a Service.
type API struct {
	Service *backup.Service
	Clock   func() time.Time
}

// Register adds the routes.
func (a *API) Register(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: Path, Access: rest.SysAdmins, Own: true, Secrets: true}, a.download)
	r.Handle(rest.Route{Method: "POST", Path: Path + "/confirm", Access: rest.SysAdmins}, a.confirm)
}

// download answers the whole database. Its length is known beforehand, so that
// a reader can tell a backup that was cut off.
func (a *API) download(w http.ResponseWriter, r *http.Request) error {
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
	if err := a.Service.Confirm(r.Context()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
