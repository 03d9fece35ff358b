package cloudsite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"outrigger/internal/work"
)

const (
	// maxValue is the most characters that a property's value may have.
	maxValue = 32768
	// maxKey is the same for its key.
	maxKey = 255
	// maxBody is how much of a body is looked at: four bytes a character.
	maxBody = 4*maxValue + 1
)

const (
	jsonType    = "application/json;charset=UTF-8"
	htmlType    = "text/html;charset=UTF-8"
	loginReason = "X-Seraph-Loginreason"

	unauthenticated = "Client must be authenticated to access this resource."
	noIssue         = "Issue does not exist or you do not have permission to see it."
	notEditable     = "You do not have permission to edit issues in this project."
)

// answer is what the site says.
type answer struct {
	status int
	header map[string]string
	body   string
}

func errorBody(message string) string {
	text, _ := json.Marshal(message) // a string
	return `{"errorMessages":[` + string(text) + `],"errors":{}}`
}

func failure(status int, message string) answer {
	return answer{status, map[string]string{"Content-Type": jsonType}, errorBody(message)}
}

func success(status int, body string) answer {
	return answer{status, map[string]string{"Content-Type": jsonType}, body}
}

// Permissions is the Request.Key of the call for the account's permissions.
const Permissions = "mypermissions"

// Handler serves the issue property API, at /rest/api/3/issue/, the account's
// permission to edit an issue, at /rest/api/3/mypermissions, and what issues are
// called, at /rest/api/3/issue/bulkfetch.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		mux.HandleFunc(method+" /rest/api/3/issue/{issue}/properties/{key}", s.serve)
	}
	mux.HandleFunc("GET /rest/api/3/issue/{issue}/properties", s.serve)
	if !s.o.NoPermissions {
		mux.HandleFunc("GET /rest/api/3/mypermissions", s.serve)
	}
	if !s.o.NoBulkFetch {
		mux.HandleFunc("POST /rest/api/3/issue/bulkfetch", s.serve)
	}
	return mux
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the client has gone
	}
	issue, key := r.PathValue("issue"), r.PathValue("key")
	if path.Base(r.URL.Path) == Permissions {
		issue, key = r.URL.Query().Get("issueId"), Permissions
	}
	if r.Method == http.MethodPost {
		key = BulkFetch
	}
	id, err := strconv.ParseInt(issue, 10, 64)
	if err != nil {
		id = 0 // no issue's
	}
	request := Request{Method: r.Method, Issue: id, Key: key, Value: string(body)}
	s.begin(&request)
	defer s.end(request)
	_ = work.Sleep(r.Context(), s.o.Latency)
	reaction := s.react(request)
	if reaction == nil {
		a := s.judge(r, request)
		s.count(a)
		a.write(w)
		return
	}
	if reaction.Apply {
		done := s.do(request)
		if reaction.Status == 0 {
			reaction.Status, reaction.Header, reaction.Body = done.status, done.header, done.body
		}
	}
	_ = work.Sleep(r.Context(), reaction.Delay)
	s.play(w, r, reaction)
}

// play answers out of the ordinary.
func (s *Site) play(w http.ResponseWriter, r *http.Request, reaction *Reaction) {
	a := answer{cmp.Or(reaction.Status, http.StatusOK), reaction.Header, reaction.Body}
	switch reaction.Then {
	case HangUp:
		panic(http.ErrAbortHandler)
	case BreakOff:
		half := a.body[:len(a.body)/2]
		a.header = map[string]string{"Content-Type": jsonType, "Content-Length": strconv.Itoa(len(a.body))}
		a.body = half
		a.write(w)
		_ = http.NewResponseController(w).Flush() // so that it is half an answer, and not none
		panic(http.ErrAbortHandler)
	case FallSilent:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	s.count(a)
	a.write(w)
}

func (a answer) write(w http.ResponseWriter) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body) // the client has gone
}

// begin counts a request that comes in.
func (s *Site) begin(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Requests++
	r.Number = s.counts.Requests
	s.now++
	s.counts.AtOnce = max(s.counts.AtOnce, s.now)
	if !r.writes() {
		return
	}
	i := s.issue(r.Issue)
	s.counts.Writes++
	i.writes++
	i.writing++
	s.counts.WritesAtOnce = max(s.counts.WritesAtOnce, i.writing)
}

func (s *Site) end(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	if r.writes() {
		s.issue(r.Issue).writing--
	}
}

func (s *Site) count(a answer) {
	if a.status == http.StatusTooManyRequests {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.counts.Limited++
	}
}

// judge does what is asked if the one who asks may.
func (s *Site) judge(r *http.Request, request Request) answer {
	user, token, _ := r.BasicAuth()
	if s.o.User != "" && (user != s.o.User || token != s.o.Token) {
		a := failure(http.StatusUnauthorized, unauthenticated)
		a.header["WWW-Authenticate"] = `OAuth realm="` + r.Host + `"`
		return a
	}
	s.mu.Lock()
	refusal, ok := s.limiter.take(request, s.o.Clock())
	near := s.limiter.nearLimit()
	s.mu.Unlock()
	if !ok {
		return refusal
	}
	if request.Method == http.MethodPut || request.Method == http.MethodPost {
		if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
			return failure(http.StatusUnsupportedMediaType, "The body has to be JSON.")
		}
	}
	a := s.do(request)
	if near {
		a.header["X-RateLimit-NearLimit"] = "true"
	}
	return a
}

// do does what is asked.
func (s *Site) do(r Request) answer {
	switch {
	case r.Key == BulkFetch:
		return s.bulkFetch(r)
	case r.Issue < 1 || s.o.Missing != nil && s.o.Missing(r.Issue):
		return failure(http.StatusNotFound, noIssue)
	case r.Method != http.MethodGet && !s.mayEdit(r.Issue):
		return failure(http.StatusForbidden, notEditable)
	}
	if r.Key == Permissions && r.Method == http.MethodGet {
		return success(http.StatusOK, fmt.Sprintf(`{"permissions":{"EDIT_ISSUES":{"id":"12","key":"EDIT_ISSUES","name":"Edit Issues",`+
			`"type":"PROJECT","havePermission":%t}}}`, s.mayEdit(r.Issue)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.issue(r.Issue)
	switch {
	case r.Key == "":
		return list(i)
	case r.Method == http.MethodPut:
		return s.put(i, r)
	}
	value, ok := i.properties[r.Key]
	if !ok {
		return failure(http.StatusNotFound, "The property with key "+r.Key+" does not exist.")
	}
	if r.Method == http.MethodDelete {
		delete(i.properties, r.Key)
		s.changed(i)
		return answer{status: http.StatusNoContent, header: map[string]string{}}
	}
	return success(http.StatusOK, `{"key":`+strconv.Quote(r.Key)+`,"value":`+value+`}`)
}

func (s *Site) mayEdit(issue int64) bool {
	mode, _ := s.FaultMode()
	return mode != ReadOnly && (s.o.ReadOnly == nil || !s.o.ReadOnly(issue))
}

func (s *Site) put(i *issue, r Request) answer {
	switch {
	case len(r.Key) > maxKey:
		return failure(http.StatusBadRequest, fmt.Sprintf("The key is longer than %d characters.", maxKey))
	case utf8.RuneCountInString(r.Value) > maxValue:
		return failure(http.StatusBadRequest, fmt.Sprintf("The value is longer than %d characters.", maxValue))
	case !utf8.ValidString(r.Value) || !json.Valid([]byte(r.Value)):
		return failure(http.StatusBadRequest, "The value is no valid, non-empty JSON.")
	}
	status := http.StatusCreated
	if _, ok := i.properties[r.Key]; ok {
		status = http.StatusOK
	}
	i.properties[r.Key] = r.Value
	s.changed(i)
	return success(status, "{}")
}

func list(i *issue) answer {
	keys := make([]string, 0, len(i.properties))
	for key := range i.properties {
		keys = append(keys, `{"key":`+strconv.Quote(key)+`}`)
	}
	slices.Sort(keys)
	return success(http.StatusOK, `{"keys":[`+strings.Join(keys, ",")+`]}`)
}
