package threads

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAnswerAbout(t *testing.T) {
	for name, c := range map[string]struct {
		e    TargetError
		want string
	}{
		"the site's words":         {TargetError{Status: 404, Said: "Issue does not exist.", Message: "ours"}, "404 Issue does not exist."},
		"a status alone":           {TargetError{Status: 403, Message: "ours"}, "403"},
		"no answer at all":         {TargetError{Message: "The map of issue 900001 has no room."}, "The map of issue [issue] has no room."},
		"the issue in its words":   {TargetError{Status: 404, Said: "Issue 900001 (/issue/900001) of 9000012 is gone."}, "404 Issue [issue] (/issue/[issue]) of 9000012 is gone."},
		"control characters":       {TargetError{Status: 400, Said: "one\r\n\ttwo \x1b[31mthree\xff"}, "400 one two \ufffd[31mthree\ufffd"},
		"words that have no end":   {TargetError{Status: 400, Said: strings.Repeat("ü", 1000)}, "400 " + strings.Repeat("ü", 148) + "…"},
		"a formula of spreadsheet": {TargetError{Said: "=1+1"}, "=1+1"},
	} {
		a := AnswerAbout(&c.e, 900001)
		if got := a.String(); got != c.want || len(a.Text) > maxAnswer || !utf8.ValidString(a.Text) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Each answer is kept once; a target with another answer for each issue fills
// nothing.
func TestErrorGroups(t *testing.T) {
	var m Migration
	for n := range 10 * maxAnswers {
		a := Answer{Status: 403, Text: fmt.Sprint("Trace ", n)}
		number := m.Groups.Answered(TargetForbidden, a)
		if again := m.Groups.Answered(TargetForbidden, a); again != number {
			t.Fatal("the answer has the numbers ", number, " and ", again)
		}
		want := a
		if n >= maxAnswers {
			want = Answer{}
		}
		got := m.Groups.AnswerTo(IssueEntries{Answer: number}, TargetForbidden)
		if got != want {
			t.Fatalf("answer %d became %v", n, got)
		}
		m.Err(TargetForbidden, got, 2)
	}
	m.Err(NoIssueMapping, Answer{}, 3)
	before := m
	next := m.Next()
	next.Retry()
	if len(m.Groups) != maxAnswers+2 || m.Permanent != 2003 || m.Refused != 2000 || len(before.Groups.Counted()) != maxAnswers+2 {
		t.Errorf("%d groups, %+v", len(m.Groups), m)
	}
	if got := m.Groups.Counted(); got[0] != (ErrorGroup{NoIssueMapping, Answer{}, 3}) || got[1] != (ErrorGroup{TargetForbidden, Answer{}, 1800}) {
		t.Errorf("%v", got[:2])
	}
	if got := next.Groups.Counted(); len(got) != 1 || got[0].Records != 3 {
		t.Errorf("while they are tried again: %v", got)
	}
	if got := m.Groups.AnswerTo(IssueEntries{Answer: 1}, Cycle); got != (Answer{}) {
		t.Errorf("an error of the data has the answer %v", got)
	}
}
