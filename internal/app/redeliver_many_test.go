package app

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// Redelivering or cancelling more than one asks with the number, says what is skipped
// and why, and is done once the question is answered, once.
func TestRedeliveringManyAsks(t *testing.T) {
	a, chat := startWithChat(t), newChatPlatform(t)
	chat.answers(http.StatusBadRequest, "invalid_payload")
	rules := make([]string, 2)
	for i := range rules {
		status, v := postJSON(t, a, mtbs+"/filter", "admin", fmt.Sprintf(`{"name":"rule","eventTypes":["BRANCH_UPDATED"],"webhookUrl":%q}`, chat.webhook(fmt.Sprint("secret-", i))))
		if status != http.StatusCreated {
			t.Fatalf("%d %v", status, v)
		}
		rules[i] = fmt.Sprint(v["id"])
	}
	for i := range 4 { // a fifth refusal in a row would break the channel
		pushed(t, a, fmt.Sprint("failed-", i))
	}
	const path = "/notifications/deliveries"
	in := func(state string) (ids []string) {
		_, list := get(t, a.URL()+mtbs+"/deliveries?state="+state, asAdmin)
		for _, m := range regexp.MustCompile(`"id":(\d+),"state"`).FindAllStringSubmatch(list, -1) {
			ids = append(ids, m[1])
		}
		return ids
	}
	eventually(t, func() bool { return len(in("failed")) == 8 })
	if status, answer := put(t, a, "PUT", mtbs+"/filter/enabled?enabled=false&id="+rules[1], ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	chat.answers(http.StatusAccepted, "")
	chat.taken()

	// All that match: nothing goes out before the question is answered.
	_, question := consolePage(t, a, path+"/redeliver?state=failed", nil)
	wants(t, "the question", question, "Send 4 deliveries again?", ">Send 4 deliveries again</button>", ">Do not send</a>", "Skipped: 4 that no enabled rule takes any more.", `name="count" value="4"`)
	if _, posted := consolePage(t, a, path+"/redeliver?state=failed", url.Values{}); !strings.Contains(posted, "Send 4 deliveries again?") || len(chat.taken()) != 0 {
		t.Errorf("a form without the question's answer is not asked about: %s", posted)
	}
	answer := hidden(question)
	for range 2 { // the second finds them gone
		if status, text := consolePage(t, a, path+"/redeliver?state=failed", answer); status != http.StatusSeeOther {
			t.Errorf("%d %s", status, text)
		}
	}
	sent := 0
	eventually(t, func() bool { sent += len(chat.taken()); return len(in("delivered")) == 4 })
	sent += len(chat.taken()) // what came since
	if failed := in("failed"); sent != 4 || len(failed) != 4 {
		t.Errorf("%d were sent, %d are left", sent, len(failed))
	}

	// What is ticked: of one no question is asked.
	delivered := in("delivered")
	_, question = consolePage(t, a, path+"/selected", url.Values{"do": {"redeliver"}, "id": append(delivered[:2:2], in("failed")[:3]...)})
	wants(t, "the question", question, "Send 2 deliveries again?", "Skipped: 3 that no enabled rule takes any more.")
	if status, text := consolePage(t, a, path+"/selected", hidden(question)); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, text)
	}
	if status, text := consolePage(t, a, path+"/selected", url.Values{"do": {"redeliver"}, "id": delivered[3:]}); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, text)
	}
	sent = 0
	eventually(t, func() bool { sent += len(chat.taken()); return sent == 3 })
	eventually(t, func() bool { return len(in("delivered")) == 4 })

	// What waits is cancelled after a question with the number.
	chat.answers(http.StatusServiceUnavailable, "")
	for i := range 3 {
		pushed(t, a, fmt.Sprint("waiting-", i))
	}
	eventually(t, func() bool { return len(in("waiting")) == 3 })
	waiting := in("waiting")
	_, question = consolePage(t, a, path+"/selected", url.Values{"do": {"cancel"}, "id": append(waiting, delivered[0])})
	wants(t, "the question", question, "Do not send 3 messages?", ">Do not send</button>", ">Keep waiting</a>", "Skipped: 1 that no longer wait")
	if got := in("waiting"); len(got) != 3 {
		t.Errorf("%d wait", len(got))
	}
	if status, text := consolePage(t, a, path+"/selected", hidden(question)); status != http.StatusSeeOther || len(in("cancelled")) != 3 {
		t.Errorf("%d %s, %d are cancelled", status, text, len(in("cancelled")))
	}
}

// hidden is what a page's form posts without anything typed.
func hidden(page string) url.Values {
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		form.Add(m[1], strings.NewReplacer("&amp;", "&", "&#43;", "+").Replace(m[2]))
	}
	return form
}
