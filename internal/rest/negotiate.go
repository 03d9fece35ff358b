package rest

import (
	"net/http"
	"strings"
)

// format is a representation that answers come in.
type format uint8

const (
	asJSON format = iota
	asXML
)

// formats is a list of what is on offer. With nothing to choose between them,
// the first is taken.
var (
	onlyJSON  = []format{asJSON}
	jsonOrXML = []format{asJSON, asXML}
)

func (f format) name() string {
	if f == asXML {
		return "xml"
	}
	return "json"
}

// mediaTypes are the values of Content-Type, made once.
var mediaTypes = [...][]string{asJSON: {"application/json"}, asXML: {"application/xml"}}

func (f format) mediaType() string { return mediaTypes[f][0] }

// suffixFormat is what the end of a path asks for, with the path before it.
func suffixFormat(path string) (rest string, f format, ok bool) {
	if p, found := strings.CutSuffix(path, ".json"); found {
		return p, asJSON, true
	}
	if p, found := strings.CutSuffix(path, ".xml"); found {
		return p, asXML, true
	}
	return path, asJSON, false
}

// negotiate chooses from what is offered by the header Accept (RFC 9110,
// section 12.5.1); false when nothing that is offered is acceptable. Of two
// that are wanted equally, the one that was named more specifically wins, then
// the one that was named first, then the one offered first. No header, or one
// that holds no media range at all, accepts everything.
func negotiate(h http.Header, offered []format) (format, bool) {
	values := h["Accept"]
	if len(values) == 0 || len(values) == 1 && values[0] == "*/*" {
		return offered[0], true
	}
	for _, f := range offered {
		if len(values) == 1 && values[0] == f.mediaType() {
			return f, true // what most programs send needs no parsing
		}
	}
	ranges := parseAccept(strings.Join(values, ","))
	if len(ranges) == 0 {
		return offered[0], true
	}
	var (
		best  format
		score preference
	)
	for _, f := range offered {
		if w := preferenceFor(ranges, f.mediaType()); w.q > 0 && w.over(score) {
			best, score = f, w
		}
	}
	return best, score.q > 0
}

// preference is how much a media type is wanted.
type preference struct {
	q        int // thousandths
	specific int
	place    int // of its range in the header
}

func (w preference) over(o preference) bool {
	switch {
	case w.q != o.q:
		return w.q > o.q
	case w.specific != o.specific:
		return w.specific > o.specific
	}
	return w.place < o.place
}

// preferenceFor takes the most specific range that matches; the first of equals.
func preferenceFor(ranges []mediaRange, mediaType string) preference {
	var w preference
	for i, r := range ranges {
		if s := r.specificity(mediaType); s > w.specific {
			w = preference{q: r.q, specific: s, place: i}
		}
	}
	return w
}

// mediaRange is one element of Accept.
type mediaRange struct {
	name   string // "application/json", "application/*", "*/*"; lower case
	params bool   // has parameters that change what is meant
	q      int    // thousandths
}

// specificity of the range for a media type: 0 when it does not match.
// Parameters that we do not know are no reason to refuse, but a range of the
// same type without them says more about what we offer.
func (r mediaRange) specificity(mediaType string) int {
	kind, _, _ := strings.Cut(mediaType, "/")
	switch r.name {
	case "*/*":
		return 1
	case kind + "/*":
		return 2
	case mediaType:
		if r.params {
			return 3
		}
		return 4
	}
	return 0
}

// parseAccept reads the elements that are well formed and passes over others.
func parseAccept(header string) []mediaRange {
	var ranges []mediaRange
	for header != "" {
		var element string
		element, header = cutUnquoted(header, ',')
		if r, ok := parseRange(element); ok {
			ranges = append(ranges, r)
		}
	}
	return ranges
}

func parseRange(element string) (mediaRange, bool) {
	name, params := cutUnquoted(element, ';')
	r := mediaRange{name: strings.ToLower(strings.Trim(name, " \t")), q: 1000}
	if r.name == "*" { // what Java's own HTTP client sends
		r.name = "*/*"
	}
	kind, sub, ok := strings.Cut(r.name, "/")
	if !ok || kind == "" || sub == "" || kind == "*" && sub != "*" {
		return r, false
	}
	for params != "" {
		var param string
		param, params = cutUnquoted(params, ';')
		key, value, _ := strings.Cut(strings.Trim(param, " \t"), "=")
		switch {
		case strings.EqualFold(key, "q"):
			if r.q, ok = parseQ(value); !ok {
				return r, false
			}
		case strings.EqualFold(key, "charset") && strings.EqualFold(strings.Trim(value, `"`), "utf-8"), key == "":
		default:
			r.params = true
		}
	}
	return r, true
}

// parseQ reads a weight in thousandths: "1", "0.5", and ".2", which the RFC
// does not know but clients send. More than 1 counts as 1, and digits beyond
// the third are dropped.
func parseQ(s string) (int, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if whole == "" && fraction == "" || !digits(whole) || !digits(fraction) {
		return 0, false
	}
	if strings.Trim(whole, "0") != "" {
		return 1000, true
	}
	q := 0
	for i := range 3 {
		q *= 10
		if i < len(fraction) {
			q += int(fraction[i] - '0')
		}
	}
	return q, true
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// cutUnquoted cuts around the first sep that is not in a quoted string.
func cutUnquoted(s string, sep byte) (before, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == sep && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}
