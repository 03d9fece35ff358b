package hook

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

// toConnection is what a webhook says beside its body, as the description has it: it is
// read by receive.
type toConnection struct {
	Connection string `path:"connection" doc:"The connection's name." example:"main"`
	EventKey   string `header:"X-Event-Key" example:"repo:refs_changed"`
	Signature  string `header:"X-Hub-Signature" example:"sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	RequestID  string `header:"X-Request-Id" max:"200" example:"e1b4a4b2-6a1f-4a53-8f0e-0f5c6d0d8a11"`
}

// MemberWords are those too long for a tag.
func (toConnection) MemberWords() map[string]string {
	return map[string]string{
		"X-Event-Key": "The platform's own key of the event. It counts where the body has no `eventKey`; where it has one, the header " +
			"must say the same or be left out, since the signature does not cover it.",
		"X-Hub-Signature": "Required for everything but the test, unless the connection is configured with unsigned.",
		"X-Request-Id":    "The platform's id of the event. The same id with the same body twice on a connection is one event.",
	}
}

// toHook is toConnection by a hook with a name.
type toHook struct {
	toConnection
	Hook string `path:"hook" doc:"The hook's name." example:"nowhere"`
}

const (
	ownHook = "The body is signed: `X-Hub-Signature` holds `sha256=` and the HMAC-SHA256 of the body in hexadecimal, under the " +
		"connection's secret. `Content-Type` is ignored; the body has at most 10 MiB. It arrives within 30 s, and after the first 5 s " +
		"at no less than 16 KiB a second, else the answer is 408. It is 408 too where the memory for bodies is used up and this one is " +
		"the slowest of them.\n\n" +
		"The answer comes within 10 s of the body: 503 where the database has not committed by then. It may yet do so; the same " +
		"webhook sent again is then the same event.\n\n" +
		"A 202 means that the event and its messages are stored and synced; nothing is asked of the network before it. It comes for " +
		"whatever is verified: understood or not, wanted by a rule or not, seen before or not. The platform's test, with the key " +
		"`diagnostics:ping` or the body `{\"test\": true}` without a key, is not signed and is 200."
	scopedHook = "Like `/hooks/{connection}`, signed with the hook's secret. An event outside the hook's scope is 403: anyone who " +
		"knows the secret of one project's or repository's hook can say nothing about another.\n\n" +
		"A rename out of the scope is taken (202) and moves nothing: it is offered to an administrator under " +
		"`/rest/outrigger/1.0/renames`, and until that is decided events under the new key are kept and not delivered."
)

func errNoWebhook(path string) error {
	return fault.New(fault.NotFound, "There is no webhook at %s. Enter the URL that the page of the connection shows.", path)
}

// describe adds the route of webhooks, whose input is In.
func describe[In any](r *rest.Router, path string, words rest.Words, receive rest.Handler, examples ...rest.Example[In, rest.None]) {
	words.Tag, words.Status, words.Answer = "webhooks", http.StatusAccepted, "The event is stored."
	words.Headers = []string{"Outrigger-Event", "Outrigger-Duplicate-Of"}
	words.Also = []rest.Success{{Status: http.StatusOK, Text: "It was the platform's test."}}
	words.Takes = []rest.Media{{Type: "application/json", Examples: map[string]any{"test": map[string]bool{"test": true}}}}
	words.Refused = []int{http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout, http.StatusServiceUnavailable}
	rest.Handle[In, rest.None](r, rest.Route{Method: "POST", Path: path, MaxBody: maxWebhook, Raw: true}, words, receive, examples...)
}
