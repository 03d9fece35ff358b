package card

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"outrigger/internal/notify"
)

// Mention is a person whom the chat platform tells of the card.
type Mention struct {
	Name string // letters, digits, spaces, dots, dashes and apostrophes; no other mention of the card has it
	ID   string // of the account, in the chat of the card's format
}

// AppendMentions appends the reviewers of an event who have an account in the chat
// of a format, by folded name: each account once, up to maxUsers in a message.
func AppendMentions(list []Mention, e *notify.Event, accounts map[string]notify.ChatAccount, format notify.Format) []Mention {
	for _, u := range e.Mentioned() {
		a, ok := accounts[notify.Fold(u.Name)]
		id := a.In(format)
		if !ok || id == "" || len(list) == maxUsers || slices.ContainsFunc(list, func(m Mention) bool { return m.ID == id }) {
			continue
		}
		name := mentionName(u)
		for n := 2; slices.ContainsFunc(list, func(m Mention) bool { return m.Name == name }); n++ {
			name = mentionName(u) + " " + strconv.Itoa(n)
		}
		list = append(list, Mention{Name: name, ID: id})
	}
	return list
}

// mentionName is what a mention calls a user, without anything that would be
// markup: Teams compares it with an entity's text to the letter.
func mentionName(u notify.User) string {
	plain := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(".'-", r) {
				return r
			}
			return ' '
		}, s)
		return strings.TrimRight(line(s, maxUser), "…")
	}
	if name := plain(u.Label()); name != "" {
		return name
	}
	return "reviewer"
}
