package client

import (
	"context"
	"errors"
	"net/url"
	"os"
)

// Report writes the report of the migration to a file, which is there only once
// all of it has come. format is html or csv. Without data it is fault.Conflict.
func (c *Client) Report(ctx context.Context, format, path string) error {
	part, err := openPart(path)
	if err != nil {
		return err
	}
	defer part.Close()
	from := migrationPath + "/report?format=" + url.QueryEscape(format)
	if err := c.retry(ctx, func() (bool, error) { return false, c.fetch(ctx, from, part, nil) }); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return part.complete()
}
