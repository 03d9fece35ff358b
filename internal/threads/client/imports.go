package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"outrigger/internal/threads"
)

const sourcePath = "/rest/threaded-comments/1.0/source"

// Imported says what became of a file on the self-hosted side of an Outrigger.
type Imported struct {
	Added     int64 `json:"added"`
	Replaced  int64 `json:"replaced"`
	Unchanged int64 `json:"unchanged"`
	Total     int64 `json:"total"` // what is there now
	threads.Reading
	Incomplete []string `json:"incomplete,omitempty"` // what is wrong with the file, a sentence each
}

// Clean reports whether there is nothing to look at.
func (i *Imported) Clean() bool {
	return len(i.Incomplete) == 0
}

// ImportHierarchy takes a hierarchy file into the self-hosted side. An import
// that broke off is sent again: what was taken changes nothing. progress is
// told how much was sent, and may be nil.
func (c *Client) ImportHierarchy(ctx context.Context, file *os.File, progress func(done, size int64)) (Imported, error) {
	return c.importFile(ctx, sourcePath+"/hierarchy", file, progress)
}

// ImportMappings takes a mappings file of a cloud site into the self-hosted
// side, as ImportHierarchy does.
func (c *Client) ImportMappings(ctx context.Context, cloudSite string, file *os.File, progress func(done, size int64)) (Imported, error) {
	return c.importFile(ctx, sourcePath+"/mappings?"+url.Values{"cloudSiteUrl": {cloudSite}}.Encode(), file, progress)
}

func (c *Client) importFile(ctx context.Context, path string, file *os.File, progress func(done, size int64)) (out Imported, err error) {
	info, err := file.Stat()
	if err != nil {
		return out, fmt.Errorf("reading the file: %w", err)
	}
	err = c.retry(ctx, func() (bool, error) {
		body := &counted{r: io.NewSectionReader(file, 0, info.Size()), size: info.Size(), progress: progress}
		r, err := c.request(ctx, http.MethodPost, path, sized{body, info.Size()})
		if err != nil {
			return false, err
		}
		r.Header.Set("Content-Type", "application/octet-stream")
		r.Header.Set("Accept", "application/json")
		return false, c.send(r, func(resp *http.Response) error {
			if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
				return fmt.Errorf("reading the server's answer: %w", err)
			}
			return nil
		}, http.StatusOK)
	})
	return out, err
}

// Mirrored says how the mirror of the host application's database stands.
type Mirrored struct {
	Records int64 `json:"records"`
	Mirror  *struct {
		TriedAt      time.Time `json:"triedAt,omitzero"`
		Failure      string    `json:"failure,omitempty"`
		FailingSince time.Time `json:"failingSince,omitzero"`
		Removes      int64     `json:"removes,omitempty"`
	} `json:"mirror,omitempty"`
}

// Mirror has a self-hosted side read the host application's database now, and
// waits until it has. acceptRemoval lets it remove as many records as it said
// that it would; removes is that number, 0 whatever it is.
func (c *Client) Mirror(ctx context.Context, acceptRemoval bool, removes int64) (m Mirrored, err error) {
	path := sourcePath + "/mirror"
	if acceptRemoval {
		path += "?acceptRemoval=true"
		if removes != 0 {
			path += "&removes=" + strconv.FormatInt(removes, 10)
		}
	}
	for err = c.ask(ctx, http.MethodPost, path, &m); err == nil && m.Mirror != nil && m.Mirror.TriedAt.IsZero(); {
		if err = c.pause(ctx, followEvery); err == nil {
			m = Mirrored{}
			err = c.ask(ctx, http.MethodGet, sourcePath, &m)
		}
	}
	return m, err
}

// counted tells how much was read.
type counted struct {
	r          io.Reader
	done, size int64
	progress   func(done, size int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.done += int64(n)
	if c.progress != nil && n > 0 {
		c.progress(c.done, c.size)
	}
	return n, err
}
