package rest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// xmlHeader is what the host application's framework writes, without a line
// end.
const xmlHeader = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`

// buffers holds the bodies of answers while they are built, so that an answer
// that cannot be built is an error and not half an answer.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is how big a buffer may be to be kept: one large list must not
// stay in memory for ever.
const maxPooled = 64 << 10

// WriteJSON answers with v as JSON. A nil list is written as [], members are
// left out as encoding/json does for omitempty and omitzero.
func WriteJSON(w http.ResponseWriter, _ *http.Request, status int, v any) error {
	return write(w, asJSON, status, v)
}

// Write answers with v as JSON or XML, as negotiated for the request. For XML
// v names its root element by a member XMLName.
func Write(w http.ResponseWriter, r *http.Request, status int, v any) error {
	f, ok := acceptable(r, exchangeOf(r.Context()))
	if !ok {
		return errNotAcceptable(jsonOrXML)
	}
	return write(w, f, status, v)
}

// acceptable is the format of an answer by a route that has JSON and XML.
func acceptable(r *http.Request, x *exchange) (format, bool) {
	if x != nil && x.endpoint != nil && x.endpoint.suffixed {
		return x.endpoint.suffix, true
	}
	return negotiate(r.Header, jsonOrXML)
}

func write(w http.ResponseWriter, f format, status int, v any) error {
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer func() {
		if buf.Cap() <= maxPooled {
			buffers.Put(buf)
		}
	}()
	if err := encode(buf, f, v); err != nil {
		return fmt.Errorf("encoding %T: %w", v, err)
	}
	h := w.Header()
	h["Content-Type"] = mediaTypes[f]
	h["Content-Length"] = []string{strconv.Itoa(buf.Len())}
	w.WriteHeader(status)
	// An error here means that the client is gone.
	_, _ = w.Write(buf.Bytes())
	return nil
}

// jsonOptions are joined once: many answers are shorter than that takes.
var jsonOptions = json.JoinOptions(json.Deterministic(true), jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.AllowInvalidUTF8(true))

func encode(buf *bytes.Buffer, f format, v any) error {
	if f == asXML {
		buf.WriteString(xmlHeader)
		return xml.NewEncoder(buf).Encode(v)
	}
	return json.MarshalWrite(buf, v, jsonOptions)
}
