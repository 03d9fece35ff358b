package pages

import (
	"errors"
	"net/http"
	"strconv"

	"outrigger/internal/config"
	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

func errNoSourceFile() error { return fault.InvalidField("file", "Choose a file.") }

// tooLarge says the limit where err is about it.
func tooLarge(err error, limit int64) error {
	if over := (*http.MaxBytesError)(nil); errors.As(err, &over) {
		return fault.Wrap(err, fault.TooLarge, "The file is over the limit of %s (threads.max_upload).", config.Size(limit))
	}
	return err
}

func (p *Source) confirmClear(r *http.Request) (console.Response, error) {
	return console.Confirm{
		Title: "Remove the hierarchy?", Text: "All records are deleted. The export is empty until you import a file again.",
		Verb: "Remove the hierarchy", Keep: "Keep the hierarchy", Back: pagePath,
	}, nil
}

func (p *Source) clear(r *http.Request) (console.Response, error) {
	err := p.Imports.Clear(r.Context())
	return console.Redirect{To: pagePath, Flash: "The hierarchy was removed."}, err
}

func (p *Source) confirmForget(r *http.Request) (console.Response, error) {
	site, ok := threads.SiteURL(r.URL.Query().Get("cloudSiteUrl"))
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no such site.")
	}
	return console.Confirm{
		Title: "Remove the mappings of " + site + "?", Text: "Its mappings and its report are deleted. You can import the mappings file again.",
		Verb: "Remove the mappings", Keep: "Keep the mappings", Back: pagePath, Form: []console.Hidden{{Name: "cloudSiteUrl", Value: site}},
	}, nil
}

func (p *Source) forget(r *http.Request, form *console.Form) (console.Response, error) {
	err := p.Imports.Forget(r.Context(), form.Get("cloudSiteUrl"))
	return console.Redirect{To: pagePath, Flash: "The mappings were removed."}, err
}

// confirmMirror asks before many records are removed.
func (p *Source) confirmMirror(r *http.Request) (console.Response, error) {
	st, err := p.Store.State(r.Context())
	if err != nil {
		return nil, err
	}
	if st.Removes == 0 {
		return console.Redirect{To: pagePath}, nil
	}
	return console.Confirm{
		Title: "Remove most of the hierarchy?", Verb: "Mirror and remove", Keep: "Keep the records", Back: pagePath,
		Text:   "They are no longer in the database. First check that threads.sql has the right database and query.",
		Losses: []string{threads.Thousands(st.Removes) + " of " + threads.Thousands(st.Records) + " records"},
		Form:   []console.Hidden{{Name: "acceptRemoval", Value: "true"}, {Name: "removes", Value: strconv.FormatInt(st.Removes, 10)}},
	}, nil
}

func (p *Source) mirror(r *http.Request, form *console.Form) (console.Response, error) {
	removes, _ := strconv.ParseInt(form.Get("removes"), 10, 64)
	err := p.Mirror.Order(r.Context(), form.Bool("acceptRemoval"), removes)
	return console.Redirect{To: pagePath, Flash: "The hierarchy is being read from the database. Reload the page in a moment."}, err
}
