package playgroundtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Front stands before a server. The zero value lets everything through.
type Front struct {
	mu     sync.Mutex
	faults []fault
	asked  []string
	after  int    // so many more requests until then is called
	then   func() // nil: nothing
}

type fault struct {
	at string
	Fault
}

// SetFault answers requests whose method and path contain a text ("" is all) with a
// fault, in place of earlier ones of the same text; the zero Fault ends it.
func (f *Front) SetFault(at string, set Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.faults[:0]
	for _, other := range f.faults {
		if other.at != at {
			kept = append(kept, other)
		}
	}
	f.faults = kept
	if set != (Fault{}) {
		f.faults = append(f.faults, fault{at, set})
	}
}

// Asked counts the requests whose method and path contain a text.
func (f *Front) Asked(text string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.asked {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// After does something when the server has answered so many more requests.
func (f *Front) After(requests int, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after, f.then = requests, do
}

// note counts a request, and returns the last fault that is set for it.
func (f *Front) note(r *http.Request) (found Fault) {
	line := r.Method + " " + r.URL.RequestURI()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, line)
	for _, one := range f.faults {
		if strings.Contains(line, one.at) {
			found = one.Fault
		}
	}
	return found
}

func (f *Front) answered() {
	f.mu.Lock()
	f.after--
	then := f.then
	if f.after != 0 {
		then = nil
	}
	f.mu.Unlock()
	if then != nil {
		then()
	}
}

// server is what a Front stands before.
type server struct {
	http.Handler
	refuse func(w http.ResponseWriter, r *http.Request, kind Kind)                                           // words a status
	spoil  func(kind Kind, page map[string]any, r *http.Request, again func(query ...string) map[string]any) // changes a page of a list
}

// before puts f before a server.
func (f *Front) before(s server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		set := f.note(r)
		if set.happen(w, r, s.refuse) {
			return
		}
		defer f.answered()
		if set.Kind == "" || s.spoil == nil {
			s.ServeHTTP(w, r)
			return
		}
		page, answer := ask(s, r)
		if page["values"] == nil {
			send(w, answer, answer.Body.Bytes())
			return
		}
		s.spoil(set.Kind, page, r, func(query ...string) map[string]any {
			other := r.Clone(r.Context())
			q := other.URL.Query()
			for i := 0; i < len(query); i += 2 {
				q.Set(query[i], query[i+1])
			}
			other.URL.RawQuery = q.Encode()
			page, _ := ask(s, other)
			return page
		})
		text, _ := json.Marshal(page) // what came as JSON encodes
		send(w, answer, text)
	})
}

// ask returns the answer, and its body where that is a JSON object.
func ask(s http.Handler, r *http.Request) (body map[string]any, answer *httptest.ResponseRecorder) {
	answer = httptest.NewRecorder()
	s.ServeHTTP(answer, r)
	dec := json.NewDecoder(strings.NewReader(answer.Body.String()))
	dec.UseNumber() // ids are large
	_ = dec.Decode(&body)
	return body, answer
}

func send(w http.ResponseWriter, answer *httptest.ResponseRecorder, body []byte) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body) // who asked has gone
}
