package smarthost

import (
	"bytes"
	"embed"
	"fmt"
	"mime"
	"net/http"
	"net/mail"
	"net/smtp"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/playground/respond"
)

//go:embed web
var web embed.FS

var render = respond.Pages(web)

// Page shows what the smarthost has taken and changes its mode. It is served
// below /mail/ beside the chat platform's page, whose style it uses.
type Page struct {
	Host    *Host
	Relay   string // host:port of Outrigger's relay, for the button that sends; "": there is none
	Console string // URL of Outrigger's own console, for the link
}

// Handler serves the page at /.
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { render(w, "mail.html", p.view(r.FormValue("said"))) })
	mux.HandleFunc("GET /messages", func(w http.ResponseWriter, _ *http.Request) { render(w, "messages", p.view("")) })
	mux.HandleFunc("GET /live", p.Host.Live("messages"))
	mux.HandleFunc("POST /mode", func(w http.ResponseWriter, r *http.Request) {
		p.Host.SetFaultMode(FaultMode(r.FormValue("mode")))
		respond.Back(w, "")
	})
	mux.HandleFunc("POST /send", p.send)
	mux.Handle("GET /web/{file}", http.FileServerFS(web))
	return mux
}

type view struct {
	Page
	FaultMode  FaultMode
	FaultModes []FaultMode
	Count      int64
	Messages   []shown
	Said       string
}

// shown is a message as the page has it.
type shown struct {
	Message
	Subject, Text string
}

// maxShown is how much of a message the page shows.
const maxShown = 16 << 10

func (p *Page) view(said string) view {
	v := view{Page: *p, FaultMode: p.Host.FaultMode(), FaultModes: FaultModes(), Count: p.Host.Count(), Said: said}
	for _, m := range p.Host.Messages() {
		s := shown{Message: m, Text: strings.ToValidUTF8(string(m.Data[:min(len(m.Data), maxShown)]), "\uFFFD")}
		if parsed, err := mail.ReadMessage(bytes.NewReader(m.Data)); err == nil {
			if s.Subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil {
				s.Subject = parsed.Header.Get("Subject")
			}
		}
		v.Messages = append(v.Messages, s)
	}
	slices.Reverse(v.Messages)
	return v
}

// maxSent bounds how many messages one press of a button sends.
const maxSent = 100

// send plays the host application, which gives its mail to the relay.
func (p *Page) send(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("count"))
	if err != nil || n < 1 || n > maxSent {
		n = 1
	}
	for i := range n {
		at := p.Host.o.Clock()
		text := fmt.Sprintf("From: Tracker <tracker@example.com>\r\nTo: Ann <ann@example.com>\r\nSubject: [ATL-%d] A ticket was "+
			"assigned to you\r\n"+
			"Date: %s\r\nMessage-ID: <%d.%d@tracker.example.com>\r\n\r\nSomebody assigned ATL-%d to you.\r\n",
			at.Unix()%1000+int64(i), at.Format(time.RFC1123Z), at.UnixNano(), i, at.Unix()%1000+int64(i))
		if err := smtp.SendMail(p.Relay, nil, "tracker@example.com", []string{"ann@example.com"}, []byte(text)); err != nil {
			respond.Back(w, "Outrigger did not take it: "+err.Error())
			return
		}
	}
	respond.Back(w, fmt.Sprintf("Outrigger has taken %d.", n))
}
