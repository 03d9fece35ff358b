package slack

import (
	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/notify/card"
)

// rich writes a block of texts and links, of which Slack formats nothing: what
// users typed needs no escape there, and has none. Its texts are gathered in text.
type rich struct {
	*writer
	n int // elements so far
}

func (w *writer) rich() *rich {
	w.text = w.text[:0]
	return &rich{writer: w}
}

// add adds text to the element at hand.
func (r *rich) add(texts ...string) {
	for _, s := range texts {
		for _, c := range s {
			if control(c) {
				c = ' '
			}
			r.text = append(r.text, string(c)...)
		}
	}
}

// flush writes the text that was added as an element, unless there is none:
// Slack takes none that is empty.
func (r *rich) flush(style string) {
	if len(r.text) == 0 {
		return
	}
	r.begin()
	r.raw(`{"type":"text","text":`)
	r.quoteText()
	r.raw(style + `}`)
	r.text = r.text[:0]
}

const boldStyle = `,"style":{"bold":true}`

func (r *rich) bold(s string) {
	r.flush("")
	r.add(s)
	r.flush(boldStyle)
}

// link adds a link, or its title alone where the address is none.
func (r *rich) link(url, title string) {
	if url = card.Absolute(url); url == "" {
		r.add(title)
		return
	}
	r.flush("")
	r.begin()
	r.raw(`{"type":"link","url":`)
	r.b, _ = jsontext.AppendQuote(r.b, url)
	if r.add(title); len(r.text) > 0 {
		r.raw(`,"text":`)
		r.quoteText()
		r.text = r.text[:0]
	}
	r.raw(`}`)
}

func (r *rich) begin() {
	if r.n == 0 {
		r.raw(`,{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[`)
	} else {
		r.raw(`,`)
	}
	r.n++
}

// end ends the block, which is none where nothing was added.
func (r *rich) end() {
	if r.flush(""); r.n > 0 {
		r.raw(`]}]}`)
	}
}

// item begins a line of a list.
func (r *rich) item() {
	if r.n > 0 || len(r.text) > 0 {
		r.add("\n")
	}
	r.add("• ")
}
