package postfix

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/mailqueue"
)

// count reads a listing: a stream of objects. It holds one member at a time,
// since a queue may have millions of messages, and a message thousands of
// recipients.
func count(listing io.Reader) (sizes mailqueue.Sizes, err error) {
	// Addresses come as they stand in the queue, in whatever encoding.
	d := jsontext.NewDecoder(listing, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for {
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return sizes, nil
		case err != nil:
			return mailqueue.Sizes{}, fmt.Errorf("it is not JSON")
		case token.Kind() != '{':
			return mailqueue.Sizes{}, fmt.Errorf("it is no stream of objects")
		}
		queue, err := queueName(d)
		if err != nil {
			return mailqueue.Sizes{}, err
		}
		switch queue {
		case "maildrop", "incoming", "active", "deferred":
			sizes.Size++
		case "hold":
			sizes.ErrorSize++
		default:
			return mailqueue.Sizes{}, fmt.Errorf("there is a queue called %.40q", queue)
		}
	}
}

// queueName reads the rest of an object and gives its member queue_name.
func queueName(d *jsontext.Decoder) (queue string, err error) {
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return "", fmt.Errorf("it is not JSON")
		}
		if name.String() != "queue_name" {
			if err := d.SkipValue(); err != nil {
				return "", fmt.Errorf("it is not JSON")
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil || value.Kind() != '"' {
			return "", fmt.Errorf("a queue_name is no text")
		}
		queue = value.String()
	}
	_, err = d.ReadToken()
	return queue, err
}
