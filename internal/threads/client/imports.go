package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"outrigger/internal/threads/api"
	"outrigger/internal/threads/source"
)

// ImportHierarchy takes a hierarchy file into the self-hosted side. An import
// that broke off is sent again: what was taken changes nothing. progress is
// told how much was sent, and may be nil.
func (c *Client) ImportHierarchy(
	ctx context.Context, file *os.File, progress func(done, size int64),
) (out source.HierarchyImport, err error) {
	err = c.importFile(ctx, api.SourcePath+"/hierarchy", file, progress, &out)
	return out, err
}

// ImportMappings takes a mappings file of a cloud site into the self-hosted
// side, as ImportHierarchy does.
func (c *Client) ImportMappings(
	ctx context.Context, cloudSite string, file *os.File, progress func(done, size int64),
) (out source.MappingImport, err error) {
	err = c.importFile(ctx, api.SourcePath+"/mappings?"+url.Values{"cloudSiteUrl": {cloudSite}}.Encode(), file, progress, &out)
	return out, err
}

func (c *Client) importFile(ctx context.Context, path string, file *os.File, progress func(done, size int64), out any) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("reading the file: %w", err)
	}
	return c.retry(ctx, func() (bool, error) {
		body := &counted{r: io.NewSectionReader(file, 0, info.Size()), size: info.Size(), progress: progress}
		r, err := c.request(ctx, http.MethodPost, path, sized{body, info.Size()})
		if err != nil {
			return false, err
		}
		r.Header.Set("Content-Type", "application/octet-stream")
		r.Header.Set("Accept", "application/json")
		return false, c.send(r, func(resp *http.Response) error { return decode(resp, out) }, http.StatusOK)
	})
}

// Mirror has a self-hosted side read the host application's database now, and
// waits until it has. acceptRemoval lets it remove as many records as it said
// that it would; removes is that number, 0 whatever it is.
func (c *Client) Mirror(ctx context.Context, acceptRemoval bool, removes int64) (m api.ThreadsSource, err error) {
	path := api.SourcePath + "/mirror"
	if acceptRemoval {
		path += "?acceptRemoval=true"
		if removes != 0 {
			path += "&removes=" + strconv.FormatInt(removes, 10)
		}
	}
	for err = c.ask(ctx, http.MethodPost, path, &m); err == nil && m.Mirror != nil && m.Mirror.TriedAt.IsZero(); {
		if err = c.pause(ctx, followEvery); err == nil {
			m = api.ThreadsSource{}
			err = c.ask(ctx, http.MethodGet, api.SourcePath, &m)
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
