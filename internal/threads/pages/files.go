package pages

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
)

// takeFile takes a file as a browser without scripts sends it, or pasted text.
func (p *Admin) takeFile(r *http.Request) (console.Response, error) {
	if _, err := p.posted(r, threads.HierarchyFile, threads.MappingsFile); err != nil {
		return refused(r.Context(), p.migrationPage, err)
	}
	return console.Redirect{To: movePath}, nil // it stands there
}

// maxField bounds a field of an upload's form; its file is not in memory.
const maxField = 4 << 10

// formOf begins to read a form with a file.
func formOf(r *http.Request, maxUpload int64) (*multipart.Reader, error) {
	rest.BeginUpload(r)
	r.Body = http.MaxBytesReader(nil, r.Body, maxUpload+maxField)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The form could not be read. Go back and send it again.")
	}
	return parts, nil
}

// posted makes a draft of a form's file, or of the text that was pasted instead;
// the fields kind, which says what it is, site and replace come first.
func (p *Admin) posted(r *http.Request, kinds ...string) (u threads.Upload, err error) {
	parts, err := formOf(r, p.MaxUpload)
	if err != nil {
		return u, err
	}
	file, replace := threads.Upload{}, false
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return u, fault.InvalidField("file", "Choose a file, or paste its text.")
		case err != nil:
			return u, admin.ErrBrokeOff(err)
		case slices.Contains([]string{"kind", "site", "replace"}, part.FormName()):
			text, err := io.ReadAll(io.LimitReader(part, maxField))
			if err != nil {
				return u, admin.ErrBrokeOff(err)
			}
			switch part.FormName() {
			case "kind":
				file.Kind = string(text)
			case "site":
				if file.Site, err = siteOf(string(text)); err != nil {
					return u, err
				}
			default:
				replace = string(text) == "true"
			}
		case !slices.Contains(kinds, file.Kind):
			return u, fault.New(fault.Invalid, "The form does not say what the file is. Go back and send it again.")
		default:
			u, given, err := p.take(r, file, replace, part)
			if given || err != nil {
				return u, err
			}
		}
	}
}

// take makes a draft of a part that has something in it.
func (p *Admin) take(r *http.Request, file threads.Upload, replace bool, part *multipart.Part) (u threads.Upload, given bool, err error) {
	s, err := p.Spool(part)
	if err != nil {
		return u, false, err
	}
	defer s.Remove()
	file.Length = s.Size
	file.Filename = strings.ReplaceAll(strings.ToValidUTF8(part.FileName(), "�"), "\x00", "�")
	if part.FormName() == "text" {
		file.Filename = "pasted text"
	}
	if s.Size == 0 && (file.Filename == "" || part.FormName() == "text") {
		return u, false, nil
	}
	u, err = p.Take(r.Context(), file, s.File, replace)
	return u, true, err
}

// siteOf reads the site that a report is for; nothing is given where it is not known.
func siteOf(text string) (string, error) {
	site, ok := threads.SiteURL(text)
	if !ok && strings.TrimSpace(text) != "" {
		return "", fault.InvalidField("site", "Give the URL of the cloud site, such as https://example.atlassian.net.")
	}
	return site, nil
}
