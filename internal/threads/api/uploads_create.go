package api

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/config"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
)

func (a *Uploads) create(w http.ResponseWriter, r *http.Request) error {
	u, replace, err := a.wanted(r)
	if err != nil {
		return err
	}
	withBody := r.Header.Get("Content-Type") == offsetType
	var whole []byte
	if withBody {
		if r.ContentLength > u.Length {
			return fault.New(fault.TooLarge, "The body is longer than Upload-Length says.")
		}
		if whole, err = readChecked(r); err != nil {
			return err
		}
	}
	u, err = admin.Begin(r.Context(), a.Store, u, replace)
	if open := (*threads.UploadOpenError)(nil); errors.As(err, &open) {
		return open.Conflict(a.link(r.Context(), open.Upload.ID))
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Location", a.link(r.Context(), u.ID))
	if withBody {
		// It is begun, however far its first part came: an answer that says
		// where it is helps more than an error.
		u, err = a.take(w, r, u.ID, 0, whole)
		if err != nil && !fault.Is(err, fault.Invalid) {
			return err
		}
		h.Set("Upload-Offset", strconv.FormatInt(u.Received, 10))
	}
	a.expires(h, u)
	a.changed(u)
	w.WriteHeader(http.StatusCreated)
	return nil
}

// wanted reads what an upload is to be, and whether it replaces another one.
func (a *Uploads) wanted(r *http.Request) (u threads.Upload, replace bool, err error) {
	var wrong fault.Fields
	if r.Header.Get("Upload-Concat") != "" {
		wrong.Add("Upload-Concat", "Files are not put together from several uploads (the concatenation of tus, parallel uploads of some "+
			"clients); send the file as one upload.")
	}
	u.Metadata = r.Header.Get("Upload-Metadata")
	meta, err := parseMetadata(u.Metadata)
	if err != nil {
		wrong.Add("Upload-Metadata", "Use a list of names, each with its value in base64.")
	} else if u.Kind = meta["kind"]; !slices.Contains(a.Kinds, u.Kind) {
		wrong.Add("Upload-Metadata", "Its kind must be one of: %s.", strings.Join(a.Kinds, ", "))
	}
	value, replace := meta["replace"]
	if replace && value != "" && value != "true" {
		wrong.Add("Upload-Metadata", "Its replace has no value, or true; leave it out where nothing is to be replaced.")
	}
	if site, given := meta["site"]; given {
		if u.Site, given = threads.SiteURL(site); !given {
			wrong.Add("Upload-Metadata", "Its site must be the URL of the cloud site that the report is for, such as https://example.atlassian.net.")
		}
	}
	u.Filename = meta["filename"]
	u.CreatedBy = identity.From(r.Context()).Name
	u.Length, err = strconv.ParseInt(r.Header.Get("Upload-Length"), 10, 64)
	switch {
	case err != nil || u.Length < 0:
		wrong.Add("Upload-Length", "It must be the length of the file in bytes.")
	case u.Length > a.Max:
		return u, false, fault.New(fault.TooLarge, "The file is over the limit of %s, threads.max_upload.", config.Size(a.Max))
	}
	return u, replace, wrong.Err()
}

func (a *Uploads) expires(h http.Header, u threads.Upload) {
	h.Set("Upload-Expires", u.ExpiresAt.UTC().Format(http.TimeFormat))
}

func (a *Uploads) changed(u threads.Upload) {
	if a.Changed != nil && u.Complete() {
		a.Changed()
	}
}
