package api

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
)

// Uploads serves tus 1.0.0 with its extensions creation, creation-with-upload,
// checksum, expiration and termination.
type Uploads struct {
	Store *store.Uploads
	Path  string   // where uploads are, such as /rest/threaded-comments/1.0/migration/uploads
	Kinds []string // what Upload-Metadata may say as kind
	Max   int64    // bytes of a file

	// Changed is told when a draft is complete, or deleted; it may be nil.
	Changed func()

	ending context.Context // ends with Stop
	end    context.CancelFunc
}

const (
	tusVersion    = "1.0.0"
	tusExtensions = "creation,creation-with-upload,checksum,expiration,termination"

	// statusChecksum is tus's own: the checksum does not fit.
	statusChecksum = 460

	offsetType = "application/offset+octet-stream"
)

// Register adds the routes.
func (a *Uploads) Register(r *rest.Router) {
	a.ending, a.end = context.WithCancel(context.Background())
	a.registerList(r)
	a.registerTus(r)
}

// Stop ends the requests that bring files, so that a stop of the server need
// not wait for them. What came in is kept.
func (a *Uploads) Stop() { a.end() }

// versioned holds requests and answers to the protocol's version.
func (a *Uploads) versioned(h rest.Handler) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Tus-Resumable", tusVersion)
		if r.Method != http.MethodOptions && r.Header.Get("Tus-Resumable") != tusVersion {
			w.Header().Set("Tus-Version", tusVersion)
			return answer(w, r, http.StatusPreconditionFailed, "This server speaks tus 1.0.0; say so with Tus-Resumable: 1.0.0.")
		}
		err := h(w, r)
		if errors.Is(err, errChecksum) {
			return answer(w, r, statusChecksum, "The checksum does not fit what came in; nothing was stored. Send it again.")
		}
		return err
	}
}

// override takes a method that a client's environment does not let it use.
func (a *Uploads) override(w http.ResponseWriter, r *http.Request) error {
	switch method := r.Header.Get("X-HTTP-Method-Override"); method {
	case http.MethodPatch:
		return a.patch(w, r)
	case http.MethodDelete:
		return a.delete(w, r)
	case http.MethodHead:
		return a.head(w, r)
	default:
		return fault.New(fault.Invalid, "POST to an upload needs X-HTTP-Method-Override with PATCH, HEAD or DELETE, not %q.", method)
	}
}

// statusBody is the body of an answer that only this protocol has; it is made
// like that of any error.
type statusBody struct {
	XMLName xml.Name `json:"-" xml:"status"`
	Status  int      `json:"status-code" xml:"status-code"`
	Message string   `json:"message" xml:"message"`
}

func answer(w http.ResponseWriter, r *http.Request, status int, message string) error {
	return rest.WriteJSON(w, r, status, statusBody{Status: status, Message: message})
}

func (a *Uploads) options(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	h.Set("Tus-Version", tusVersion)
	h.Set("Tus-Extension", tusExtensions)
	h.Set("Tus-Max-Size", strconv.FormatInt(a.Max, 10))
	h.Set("Tus-Checksum-Algorithm", algorithms)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *Uploads) link(ctx context.Context, id int64) string {
	return rest.Link(ctx, a.Path+"/"+strconv.FormatInt(id, 10))
}

func idOf(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, fault.New(fault.NotFound, "There is no such upload.")
	}
	return id, nil
}

func (a *Uploads) head(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	u, err := a.Store.Get(r.Context(), id)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Upload-Offset", strconv.FormatInt(u.Received, 10))
	h.Set("Upload-Length", strconv.FormatInt(u.Length, 10))
	if u.Metadata != "" {
		h.Set("Upload-Metadata", u.Metadata)
	}
	a.expires(h, u)
	w.WriteHeader(http.StatusOK)
	return nil
}

func (a *Uploads) patch(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if r.Header.Get("Content-Type") != offsetType {
		return answer(w, r, http.StatusUnsupportedMediaType, "The part of a file is sent as Content-Type: "+offsetType+".")
	}
	at, err := strconv.ParseInt(r.Header.Get("Upload-Offset"), 10, 64)
	if err != nil || at < 0 {
		return fault.New(fault.Invalid, "Upload-Offset must say where in the file the body begins.")
	}
	u, err := a.Store.Get(r.Context(), id)
	switch {
	case err != nil:
		return err
	case u.Received != at:
		return threads.ErrUploadOffset(u, at)
	case r.ContentLength > u.Length-at:
		return fault.New(fault.TooLarge, "The body is longer than the %d bytes that are missing.", u.Length-at)
	}
	whole, err := readChecked(r)
	if err != nil {
		return err
	}
	if u, err = a.take(w, r, id, at, whole); err != nil {
		return err
	}
	w.Header().Set("Upload-Offset", strconv.FormatInt(u.Received, 10))
	a.expires(w.Header(), u)
	a.changed(u)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// take stores the body, or what it was read into.
func (a *Uploads) take(w http.ResponseWriter, r *http.Request, id, at int64, whole []byte) (threads.Upload, error) {
	if whole != nil {
		return a.Store.AppendWhole(r.Context(), id, at, whole)
	}
	// A body is read for as long as it comes, but not past a stop. What knows
	// no deadlines, as a test's recorder, cannot be stopped.
	interrupt := func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) }
	defer context.AfterFunc(a.ending, interrupt)()
	u, err := a.Store.Append(r.Context(), id, at, r.Body)
	if err != nil && a.ending.Err() != nil {
		return u, &fault.Error{Code: fault.Unavailable, Message: "Outrigger is stopping; go on in a moment.", RetryAfter: time.Second}
	}
	return u, err
}

func (a *Uploads) delete(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if err := a.Store.Delete(r.Context(), id); err != nil {
		return fmt.Errorf("deleting the upload: %w", err)
	}
	if a.Changed != nil {
		a.Changed()
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
