package jiracloud

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/threads"
)

const (
	headKey    = "outrigger.threads"
	partPrefix = headKey + "."

	// version is of the layout; a reader refuses others.
	version = 1

	// maxValue is the vendor's: characters of a property's value. All of ours
	// are ASCII.
	maxValue = 32768

	// aroundPart is what a part has beside its relations, at most:
	// {"v":1,"generation":9223372036854775807,"part":1000000,"parents":{}}
	aroundPart = 80

	// maxParts is far above what a site lets an issue have, which is 5,000
	// comments: even of the longest ids 40,000 have room.
	maxParts = 64

	// maxNumber bounds what is believed of a head. Two generations and one more
	// are below 4*maxParts.
	maxNumber = 1_000_000
)

func partKey(n int) string { return partPrefix + strconv.Itoa(n) }

// partNumber tells which part a key is; false for others.
func partNumber(key string) (int, bool) {
	text, ok := strings.CutPrefix(key, partPrefix)
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n >= 1 && strconv.Itoa(n) == text
}

// head is outrigger.threads.
type head struct {
	Generation int64
	Parents    threads.ParentMap // where Parts is 0

	First, Parts int
	Relations    int
	SHA256       string
}

// part is outrigger.threads.1 and so on.
type part struct {
	Generation int64
	Part       int
	Parents    threads.ParentMap
}

// has reports whether a part is one of the head's. A nil head has none.
func (h *head) has(part int) bool {
	return h != nil && part >= h.First && part < h.First+h.Parts
}

// same reports whether two heads are about the same parts.
func (h *head) same(other *head) bool {
	return other != nil && h.Generation == other.Generation && h.First == other.First && h.Parts == other.Parts && h.SHA256 == other.SHA256
}

// compose makes the head and the parts of a map that comes after old's, which is
// nil for none.
func compose(old *head, m threads.ParentMap) (*head, []part, error) {
	h := &head{Generation: 1, Parents: m}
	if old != nil {
		h.Generation = old.Generation + 1
	}
	if len(h.encode()) <= maxValue {
		return h, nil, nil
	}
	pieces := split(m)
	if len(pieces) > maxParts {
		return nil, nil, fmt.Errorf("%d relations need %d properties; there may be %d", len(m), len(pieces), maxParts)
	}
	h.Parents, h.First, h.Parts, h.Relations, h.SHA256 = nil, 1, len(pieces), len(m), sum(m)
	if old != nil && old.Parts > 0 && len(pieces) >= old.First {
		h.First = old.First + old.Parts // below there is no room beside the old ones
	}
	parts := make([]part, len(pieces))
	for i, piece := range pieces {
		parts[i] = part{h.Generation, h.First + i, piece}
	}
	return h, parts, nil
}

// split cuts a map into pieces that have room in a part each.
func split(m threads.ParentMap) (pieces []threads.ParentMap) {
	begin, size := 0, aroundPart
	for i, r := range m {
		cost := len(`"":"",`) + len(strconv.FormatInt(r.CommentID, 10)) + len(strconv.FormatInt(r.ParentID, 10))
		if size+cost > maxValue {
			pieces = append(pieces, m[begin:i])
			begin, size = i, aroundPart
		}
		size += cost
	}
	return append(pieces, m[begin:])
}

func (h *head) encode() []byte {
	if h.Parts == 0 {
		b := fmt.Appendf(nil, `{"v":%d,"generation":%d,"parents":`, version, h.Generation)
		return append(h.Parents.AppendJSON(b), '}')
	}
	return fmt.Appendf(nil, `{"v":%d,"generation":%d,"first":%d,"parts":%d,"relations":%d,"sha256":"%s"}`,
		version, h.Generation, h.First, h.Parts, h.Relations, h.SHA256)
}

func (p part) encode() []byte {
	b := fmt.Appendf(nil, `{"v":%d,"generation":%d,"part":%d,"parents":`, version, p.Generation, p.Part)
	return append(p.Parents.AppendJSON(b), '}')
}

var errLayout = errors.New("it has another layout")

// unmarshal reads a value, in which nothing may be that is not known: it would
// be lost when the property is written again.
func unmarshal(text []byte, v *int, into any) error {
	var layout struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(text, &layout); err != nil {
		return errLayout
	}
	if layout.V > version {
		return fmt.Errorf("a later release of Outrigger has written it, in version %d; this one knows %d", layout.V, version)
	}
	if err := json.Unmarshal(text, into, json.RejectUnknownMembers(true)); err != nil || *v != version {
		return errLayout
	}
	return nil
}

// decodeHead reads the value of outrigger.threads.
func decodeHead(text []byte) (*head, error) {
	var raw struct {
		V          int            `json:"v"`
		Generation int64          `json:"generation"`
		Parents    jsontext.Value `json:"parents"`
		First      int            `json:"first"`
		Parts      int            `json:"parts"`
		Relations  int            `json:"relations"`
		SHA256     string         `json:"sha256"`
	}
	if err := unmarshal(text, &raw.V, &raw); err != nil {
		return nil, err
	}
	h := &head{Generation: raw.Generation, First: raw.First, Parts: raw.Parts, Relations: raw.Relations, SHA256: raw.SHA256}
	if raw.Parents != nil {
		var err error
		if h.Parents, err = decodeParents(raw.Parents); err != nil {
			return nil, err
		}
		if h.First != 0 || h.Parts != 0 || h.Relations != 0 || h.SHA256 != "" {
			return nil, errLayout
		}
	} else if h.First < 1 || h.First > maxNumber || h.Parts < 1 || h.Parts > maxParts || h.Relations < 1 || len(h.SHA256) != 64 {
		return nil, errLayout
	}
	if h.Generation < 1 {
		return nil, errLayout
	}
	return h, nil
}

// decodePart reads the value of outrigger.threads.1 and so on.
func decodePart(text []byte) (p part, err error) {
	var raw struct {
		V          int            `json:"v"`
		Generation int64          `json:"generation"`
		Part       int            `json:"part"`
		Parents    jsontext.Value `json:"parents"`
	}
	if err := unmarshal(text, &raw.V, &raw); err != nil {
		return part{}, err
	}
	if raw.Generation < 1 || raw.Part < 1 || raw.Parents == nil {
		return part{}, errLayout
	}
	p = part{Generation: raw.Generation, Part: raw.Part}
	p.Parents, err = decodeParents(raw.Parents)
	return p, err
}

func decodeParents(text jsontext.Value) (threads.ParentMap, error) {
	if text.Kind() != '{' {
		return nil, errLayout
	}
	m, err := threads.ParseParentMap(text)
	if err != nil {
		return nil, errors.New("its parents are no map of comment ids")
	}
	return m, nil
}
