package bitbucketdc

import (
	"errors"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// What happened is what the body says; the header counts where it says nothing.
func TestKey(t *testing.T) {
	for body, want := range map[string]string{
		`{"eventKey":"body","a":1}`:                 "body",
		`{"a":{"eventKey":"x"}, "eventKey" : "b" }`: "b",
		`{"a":1,"event\u004bey":"b"}`:               "b",
		`{"eventKey":"first","eventKey":"last"}`:    "last",
		`{"eventKey":""}`:                           "",
		`{"a":{"eventKey":"x"}}`:                    "none",
		`[{"eventKey":"x"}]`:                        "none",
		`"eventKey"`:                                "none",
		`{"eventKey":7}`:                            "none",
		`{"eventKey":"b","eventKey":null}`:          "none",
		`{"eventKey":{"b":"c"}}`:                    "none",
		`{"eventKeys":"x","a":"eventKey","b":"y"}`:  "none",
	} {
		header := ""
		if want == "none" {
			header = "none"
		}
		key, _, err := Decode(header, []byte(body), base)
		if key != want || !errors.Is(err, notify.ErrUnknownKey) {
			t.Errorf("%s: %q, %v", body, key, err)
		}
		if _, _, err := Decode("other", []byte(body), base); fault.Is(err, fault.Invalid) != (want != "none") {
			t.Errorf("%s under another key: %v", body, err)
		}
	}
}
