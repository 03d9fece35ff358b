package app

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// What a deleted rule sent goes to its channel itself, by one and by many, and the
// pages say so; a channel that nothing uses any more has no URL, and that is said.
func TestRedeliveringWhatADeletedRuleSent(t *testing.T) {
	a, chat := startWithChat(t), newChatPlatform(t)
	chat.answers(http.StatusBadRequest, "invalid_payload")
	rule := func(name, events, to string) string {
		t.Helper()
		status, v := postJSON(t, a, mtbs+"/filter", "admin", fmt.Sprintf(`{"name":%q,"channelName":%[1]q,"eventTypes":[%q],"webhookUrl":%q}`, name, events, chat.webhook(to)))
		if status != http.StatusCreated {
			t.Fatalf("%d %v", status, v)
		}
		return fmt.Sprint(v["id"])
	}
	gone, alone := rule("gone", "BRANCH_UPDATED", "shared"), rule("alone", "BRANCH_UPDATED", "own")
	rule("other", "TAG_CREATED", "shared")
	for i := range 3 {
		pushed(t, a, fmt.Sprint("failed-", i))
	}
	const path = "/notifications/deliveries"
	in := func(query string) (ids []string) {
		t.Helper()
		_, list := get(t, a.URL()+mtbs+"/deliveries?"+query, asAdmin)
		for _, m := range regexp.MustCompile(`"id":(\d+),"state"`).FindAllStringSubmatch(list, -1) {
			ids = append(ids, m[1])
		}
		return ids
	}
	eventually(t, func() bool { return len(in("state=failed")) == 6 })
	of, ofAlone := in("filterId="+gone), in("filterId="+alone)
	for _, id := range []string{gone, alone} {
		if status, answer := put(t, a, "DELETE", mtbs+"/filter?id="+id, ""); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, answer)
		}
	}
	chat.answers(http.StatusAccepted, "")
	chat.taken()

	_, page := consolePage(t, a, path+"/"+of[0], nil)
	wants(t, "its page", page, "deleted since: <b>Send again</b> sends it to the channel itself, which others use", ">other</a>")
	if status, text := consolePage(t, a, path+"/"+of[0]+"/redeliver", url.Values{}); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, text)
	}
	_, page = consolePage(t, a, path+"/"+ofAlone[0], nil)
	if !strings.Contains(page, "deleted since</span>") {
		t.Errorf("of a channel that nothing uses: %s", page)
	}
	status, answer := put(t, a, "POST", mtbs+"/deliveries/redeliver?id="+ofAlone[0], "")
	if status != http.StatusConflict || !strings.Contains(answer, "nothing else uses its channel") {
		t.Errorf("to a channel that nothing uses: %d %s", status, answer)
	}
	_, question := consolePage(t, a, path+"/redeliver?state=failed", nil)
	wants(t, "the question", question, "Send 2 deliveries again?", "Of these, 2 go to their channels themselves, because their rules are deleted.", "Skipped: 3 that no enabled rule takes any more.")
	if status, text := consolePage(t, a, path+"/redeliver?state=failed", hidden(question)); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, text)
	}
	sent := 0
	eventually(t, func() bool { sent += len(chat.taken()); return len(in("state=delivered")) == 3 })
	sent += len(chat.taken()) // what came since
	if sent != 3 || len(in("state=failed")) != 3 {
		t.Errorf("%d were sent, %d are left", sent, len(in("state=failed")))
	}
}
