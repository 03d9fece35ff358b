package threads

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"outrigger/internal/work"
)

const (
	// maxAnswer is how many bytes of a target's words are kept: a sentence or two.
	maxAnswer = 300
	// maxAnswers is how many different answers are kept for a data set. A target
	// that says something else about each issue would fill the database; its other
	// answers are counted without their words.
	maxAnswers = MaxListed
	// anIssue stands in a kept answer for the id of the issue that it is about,
	// so that the same words about many issues are one answer.
	anIssue = "[issue]"
)

// Answer is what a target said when it refused an issue; the zero value where
// that is not known.
type Answer struct {
	Status int    `json:"status,omitzero" doc:"HTTP status; absent where the request was not made, for which text says why."`
	Text   string `json:"text,omitzero" max:"300"` // bytes: maxAnswer
}

// MemberWords are those too long for a tag.
func (Answer) MemberWords() map[string]string {
	return map[string]string{
		"": "What the target said when it refused the record; absent for other reasons. Of each migration, 100 different answers are " +
			"kept.",
		"text": "The target's own words, without control characters. `[issue]` stands for the id of the issue.",
	}
}

// AnswerAbout is what e says of a cloud issue: the target's own words, and where
// it was not the target that refused, why the request was not made.
func AnswerAbout(e *TargetError, cloudIssueID int64) Answer {
	a := Answer{Status: e.Status, Text: e.Said}
	if a.Status == 0 && a.Text == "" {
		a.Text = e.Message
	}
	a.Text = strings.Join(strings.Fields(work.Printable(a.Text)), " ")
	if id := strconv.FormatInt(cloudIssueID, 10); strings.Contains(a.Text, id) {
		a.Text = regexp.MustCompile(`\b`+id+`\b`).ReplaceAllLiteralString(a.Text, anIssue)
	}
	if len(a.Text) > maxAnswer {
		cut := maxAnswer - len("…")
		for !utf8.RuneStart(a.Text[cut]) {
			cut--
		}
		a.Text = a.Text[:cut] + "…"
	}
	return a
}

// String is the answer in a line: "404 Issue does not exist."
func (a Answer) String() string {
	if a.Status == 0 {
		return a.Text
	}
	return strings.TrimSpace(strconv.Itoa(a.Status) + " " + a.Text)
}

// ErrorGroup counts the permanent errors of one reason and, where the target
// refused them, of one answer.
type ErrorGroup struct {
	Reason  Reason `json:"reason" doc:"Why they failed."`
	Answer  Answer `json:"answer,omitzero"`
	Records int64  `json:"records" doc:"How many records failed so."`
}

// ErrorGroups are the groups of a migration, in the order in which they came up.
// None goes before the data does: an issue of a chunk names the group of its
// answer by its place.
type ErrorGroups []ErrorGroup

// group returns the place of a group, which is there from then on.
func (g *ErrorGroups) group(r Reason, a Answer) int {
	answers := 0
	for n, group := range *g {
		if group.Reason == r && group.Answer == a {
			return n
		}
		if group.Answer != (Answer{}) {
			answers++
		}
	}
	if a != (Answer{}) && answers >= maxAnswers {
		return g.group(r, Answer{})
	}
	*g = append(*g, ErrorGroup{Reason: r, Answer: a})
	return len(*g) - 1
}

// Answered returns the number of an answer for IssueEntries.
func (g *ErrorGroups) Answered(r Reason, a Answer) int64 { return int64(g.group(r, a)) + 1 }

// answer is what the target said by the number that Answered gave.
func (g ErrorGroups) answer(number int64) Answer {
	if number < 1 || number > int64(len(g)) {
		return Answer{}
	}
	return g[number-1].Answer
}

// AnswerTo is what the target said about an error of an issue; the zero value
// where it is an error of the data.
func (g ErrorGroups) AnswerTo(i IssueEntries, r Reason) Answer {
	if !r.OfTarget() {
		return Answer{}
	}
	return g.answer(i.Answer)
}

// Counted returns the groups that have records, in the order of Reasons, and of a
// reason those with the most records first.
func (g ErrorGroups) Counted() []ErrorGroup {
	list := slices.DeleteFunc(slices.Clone(g), func(group ErrorGroup) bool { return group.Records == 0 })
	reasons := Reasons()
	slices.SortStableFunc(list, func(a, b ErrorGroup) int {
		return cmp.Or(slices.Index(reasons, a.Reason)-slices.Index(reasons, b.Reason), cmp.Compare(b.Records, a.Records))
	})
	return list
}
