package source

import (
	"errors"
	"net/http"

	"outrigger/internal/config"
	"outrigger/internal/console"
	"outrigger/internal/fault"
)

func errNoFile() error {
	var wrong fault.Fields
	wrong.Add("file", "Choose a file.")
	return wrong.Err()
}

// tooLarge says the limit where err is about it.
func tooLarge(err error, limit int64) error {
	if over := (*http.MaxBytesError)(nil); errors.As(err, &over) {
		return fault.Wrap(err, fault.TooLarge, "The file is over the limit of %s (threads.max_upload).", config.Size(limit))
	}
	return err
}

func (p *Pages) confirmClear(r *http.Request) (console.Response, error) {
	return console.Confirm{
		Title: "Remove the hierarchy?", Text: "Every record goes; the export is empty until a file is imported again.",
		Verb: "Remove the hierarchy", Back: pagePath,
	}, nil
}

func (p *Pages) clear(r *http.Request) (console.Response, error) {
	if err := p.Imports.Clear(r.Context()); err != nil {
		return nil, err
	}
	return console.Redirect{To: pagePath, Flash: "The hierarchy is removed."}, nil
}

func (p *Pages) confirmForget(r *http.Request) (console.Response, error) {
	site, ok := SiteURL(r.URL.Query().Get("cloudSiteUrl"))
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no such site.")
	}
	return console.Confirm{
		Title: "Remove the mappings of " + site + "?", Text: "Its mappings and its report go; the mappings file can be imported again.",
		Verb: "Remove the mappings", Back: pagePath, Form: []console.Hidden{{Name: "cloudSiteUrl", Value: site}},
	}, nil
}

func (p *Pages) forget(r *http.Request) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	if err := p.Imports.Forget(r.Context(), form.Get("cloudSiteUrl")); err != nil {
		return nil, err
	}
	return console.Redirect{To: pagePath, Flash: "The mappings are removed."}, nil
}

func (p *Pages) mirror(r *http.Request) (console.Response, error) {
	if p.Mirror == nil {
		return nil, fault.New(fault.Conflict, "The hierarchy comes from files; it is mirrored where threads.source is sql.")
	}
	if err := p.Store.MirrorNow(r.Context()); err != nil {
		return nil, err
	}
	p.Mirror.Kick()
	return console.Redirect{To: pagePath, Flash: "The hierarchy is being mirrored; reload in a moment."}, nil
}
