package answer

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSentence(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"nothing said", 404, "", "The chat platform answered 404 Not Found."},
		{"a status without a name", 599, " \n", "The chat platform answered 599."},
		{"text", 410, "no_service", "The chat platform answered 410 Gone: no_service"},
		{"a workflow's error", 400, `{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"The trigger is off."}}`,
			"The chat platform answered 400 Bad Request: WorkflowTriggerIsNotEnabled: The trigger is off."},
		{"a message without a code", 400, `{"error":{"message":"Off."}}`, "The chat platform answered 400 Bad Request: Off."},
		{"other JSON", 400, `{"ok":false}`, `The chat platform answered 400 Bad Request: {"ok":false}`},
		{"lines", 500, "<html>\n  <b>down</b>", "The chat platform answered 500 Internal Server Error: <html> <b>down</b>"},
		{"control characters", 404, `{"error":{"code":"No","message":"no \u001b[2Jchannel"}}`, "The chat platform answered 404 Not Found: No: no \uFFFD[2Jchannel"},
	} {
		if got := Sentence(c.status, c.body); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The status of an answer can be read from what is said of it, whoever it is said to.
func TestStatusOfWhatIsSaid(t *testing.T) {
	for _, status := range []int{200, 404, 410, 503, 599} {
		for _, reason := range []string{
			Sentence(status, ""), Sentence(status, "The trigger 123 is off."), Withheld(status),
			"It refused 5 messages in a row. The last time: " + Sentence(status, "410 Gone"),
		} {
			if got := Status(reason); got != status {
				t.Errorf("%q: %d", reason, got)
			}
		}
	}
	for _, reason := range []string{"", "404 Not Found", "The chat platform answered ", "The chat platform does not answer."} {
		if got := Status(reason); got != 0 {
			t.Errorf("%q: %d", reason, got)
		}
	}
}

func TestLongAnswersAreCut(t *testing.T) {
	got := Sentence(500, strings.Repeat("ä", 1000)) // two bytes each
	if !utf8.ValidString(got) || strings.Count(got, "ä") != maxWords/2 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}

func TestBrief(t *testing.T) {
	for reason, want := range map[string]string{
		Sentence(404, "No such workflow."): "404 Not Found: No such workflow.",
		"The host name was not found.":     "The host name was not found.",
		"":                                 "",
	} {
		if got := Brief(reason); got != want {
			t.Errorf("%q is %q, want %q", reason, got, want)
		}
	}
}
