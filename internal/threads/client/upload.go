package client

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	uploadsPath = "/rest/threaded-comments/1.0/migration/uploads"
	tusVersion  = "1.0.0"
	// sampled is how much of a file's beginning and end tells it from another
	// of the same name, size and time.
	sampled = 1 << 20
)

// Draft is a file that was sent to the cloud side.
type Draft struct {
	ID      int64
	Length  int64
	Resumed int64 // bytes that were there from an upload that broke off
}

// Upload sends a file as the draft of a kind, by tus 1.0.0. It goes on with an
// upload of the same file that broke off. Where there is another file of the kind,
// sent or being sent, it is fault.Conflict, unless replace says that it goes.
// progress is told how much was sent, and may be nil. site is the cloud site that an id
// mappings report is for, which the server compares with its target; "" is for one
// that is not known.
func (c *Client) Upload(
	ctx context.Context, site, kind string, file *os.File, replace bool, progress func(done, size int64),
) (Draft, error) {
	u, err := c.prepare(site, kind, file)
	if err != nil {
		return Draft{}, err
	}
	u.progress = progress
	if err := c.retry(ctx, func() (bool, error) { return false, u.find(ctx, replace) }); err != nil {
		return Draft{}, err
	}
	u.Resumed = u.offset
	err = c.retry(ctx, func() (bool, error) {
		before := u.offset
		err := u.sendRest(ctx)
		return u.offset > before, err
	})
	return u.Draft, err
}

// DeleteDraft removes a draft; one that is gone is fine.
func (c *Client) DeleteDraft(ctx context.Context, id int64) error {
	return c.retry(ctx, func() (bool, error) {
		return false, c.tus(ctx, http.MethodDelete, draftPath(id), nil, nil, func(*http.Response) error { return nil },
			http.StatusNoContent, http.StatusNotFound, http.StatusGone)
	})
}

func draftPath(id int64) string { return uploadsPath + "/" + strconv.FormatInt(id, 10) }

// sending is a file on its way.
type sending struct {
	*Client
	Draft
	file     *os.File
	kind     string
	metadata string
	offset   int64 // what the server has
	sure     bool  // offset was just said by the server
	progress func(done, size int64)
}

func (c *Client) prepare(site, kind string, file *os.File) (*sending, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	sum := sha256.New()
	fmt.Fprintln(sum, info.Size(), info.ModTime().UnixNano())
	for _, at := range []int64{0, max(0, info.Size()-sampled)} {
		if _, err := io.Copy(sum, io.NewSectionReader(file, at, sampled)); err != nil {
			return nil, fmt.Errorf("reading the file: %w", err)
		}
	}
	var pairs []string
	said := [][2]string{{"kind", kind}, {"filename", filepath.Base(file.Name())}, {"fingerprint", fmt.Sprintf("%x", sum.Sum(nil)[:16])}}
	if site != "" {
		said = append(said, [2]string{"site", site})
	}
	for _, pair := range said {
		pairs = append(pairs, pair[0]+" "+base64.StdEncoding.EncodeToString([]byte(pair[1])))
	}
	return &sending{Client: c, Draft: Draft{Length: info.Size()}, file: file, kind: kind, metadata: strings.Join(pairs, ",")}, nil
}

// tus sends a request of the protocol.
func (c *Client) tus(
	ctx context.Context, method, path string, header map[string]string, body io.Reader, use func(*http.Response) error, expected ...int,
) error {
	r, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Tus-Resumable", tusVersion)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return c.send(r, use, expected...)
}

// find goes on with an upload of the same file, or begins one.
func (u *sending) find(ctx context.Context, replace bool) error {
	id, err := u.open(ctx)
	if err != nil {
		return err
	}
	if id != 0 {
		same := false
		err := u.tus(ctx, http.MethodHead, draftPath(id), nil, nil, func(resp *http.Response) error {
			u.offset, err = offsetOf(resp)
			same = err == nil && slices.Equal(split(resp.Header.Get("Upload-Metadata")), split(u.metadata))
			return err
		}, http.StatusOK)
		if err != nil {
			return err
		}
		if same {
			u.ID, u.sure = id, true
			return nil
		}
	}
	return u.create(ctx, replace)
}

// split cuts metadata into its pairs that say which file it is; their order means
// nothing.
func split(metadata string) []string {
	pairs := strings.Split(metadata, ",")
	for i := range pairs {
		pairs[i] = strings.TrimSpace(pairs[i])
	}
	slices.Sort(pairs)
	return slices.DeleteFunc(pairs, func(pair string) bool { return pair == replacing })
}

// open is the id of the draft of the kind; 0 when there is none.
func (u *sending) open(ctx context.Context) (id int64, err error) {
	err = u.tus(ctx, http.MethodGet, uploadsPath, nil, nil, func(resp *http.Response) error {
		var list struct {
			Items []struct {
				ID   int64
				Kind string
			}
		}
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			return fmt.Errorf("reading the server's uploads: %w", err)
		}
		for _, item := range list.Items {
			if item.Kind == u.kind {
				id = item.ID
			}
		}
		return nil
	}, http.StatusOK)
	return id, err
}

// replacing is the metadata of an upload that takes the place of another one.
const replacing = "replace"

func (u *sending) create(ctx context.Context, replace bool) error {
	metadata := u.metadata
	if replace {
		metadata += "," + replacing
	}
	header := map[string]string{"Upload-Length": strconv.FormatInt(u.Length, 10), "Upload-Metadata": metadata}
	return u.tus(ctx, http.MethodPost, uploadsPath, header, nil, func(resp *http.Response) (err error) {
		// The server names itself by its base URL, which may not be how it is
		// reached from here: only the id counts.
		if u.ID, err = strconv.ParseInt(path.Base(resp.Header.Get("Location")), 10, 64); err != nil {
			return fmt.Errorf("the server gave no address for the upload, but %q", resp.Header.Get("Location"))
		}
		u.offset, u.sure = 0, true
		return nil
	}, http.StatusCreated)
}

func offsetOf(resp *http.Response) (int64, error) {
	n, err := strconv.ParseInt(resp.Header.Get("Upload-Offset"), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("the server says that the upload is at %q", resp.Header.Get("Upload-Offset"))
	}
	return n, nil
}

var errElsewhere = errors.New("the server is at another byte of the upload")

// sendRest asks where the upload is, if need be, and sends the rest.
func (u *sending) sendRest(ctx context.Context) error {
	note := func(resp *http.Response) (err error) {
		if resp.StatusCode == http.StatusConflict {
			return &transient{error: errElsewhere}
		}
		if u.offset, err = offsetOf(resp); err == nil && u.offset > u.Length {
			err = fmt.Errorf("the server says that the upload is at %d, of a file of %d bytes", u.offset, u.Length)
		}
		return err
	}
	if !u.sure {
		if err := u.tus(ctx, http.MethodHead, draftPath(u.ID), nil, nil, note, http.StatusOK); err != nil {
			return err
		}
	}
	u.sure = false
	if u.offset == u.Length {
		return nil
	}
	rest := io.NewSectionReader(u.file, u.offset, u.Length-u.offset)
	body := &counted{r: rest, done: u.offset, size: u.Length, progress: u.progress}
	header := map[string]string{"Content-Type": "application/offset+octet-stream", "Upload-Offset": strconv.FormatInt(u.offset, 10)}
	if err := u.tus(ctx, http.MethodPatch, draftPath(u.ID), header, sized{body, rest.Size()}, note, http.StatusNoContent,
		http.StatusConflict); err != nil {
		return err
	}
	if u.offset < u.Length {
		return &transient{error: errors.New("the server took a part of what was sent")}
	}
	return nil
}

// sized is a body of known length.
type sized struct {
	io.Reader
	n int64
}
