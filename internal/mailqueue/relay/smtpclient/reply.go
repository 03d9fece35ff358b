package smtpclient

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"outrigger/internal/work"
)

const (
	// maxReplyLine and maxReplyLines bound what a smarthost may say: RFC 5321
	// has 512 bytes a line; some say more.
	maxReplyLine  = 4 << 10
	maxReplyLines = 100
)

// Reply is an answer of the smarthost. The zero Reply is one that did not come.
type Reply struct {
	Code  int
	Lines []string // without the code
}

// Text is the answer in one line, without its code.
func (r Reply) Text() string { return strings.Join(r.Lines, " ") }

// String is the whole answer as text that both databases take.
func (r Reply) String() string {
	return work.ReadAnswer(strings.NewReader(strings.TrimSpace(strconv.Itoa(r.Code) + " " + r.Text())))
}

// Enhanced is the enhanced status code, such as 5.5.3; "" where there is none:
// RFC 2034.
func (r Reply) Enhanced() string {
	if len(r.Lines) == 0 {
		return ""
	}
	code, _, _ := strings.Cut(r.Lines[0], " ")
	class, rest, _ := strings.Cut(code, ".")
	subject, detail, found := strings.Cut(rest, ".")
	if !found || class != strconv.Itoa(r.Code/100) || !isNumber(subject) || !isNumber(detail) {
		return ""
	}
	return code
}

// isNumber reports whether s is one of one to three digits.
func isNumber(s string) bool {
	return len(s) >= 1 && len(s) <= 3 && strings.Trim(s, "0123456789") == ""
}

var errNotSMTP = errors.New("it does not speak SMTP")

// readReply reads an answer of one line or more: RFC 5321, 4.2.1.
func readReply(in *bufio.Reader) (r Reply, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return r, fmt.Errorf("%w: a line of its answer does not end", errNotSMTP)
		}
		if err != nil {
			return r, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		code, last, ok := cutCode(text)
		if !ok || r.Code != 0 && code != r.Code || len(r.Lines) == maxReplyLines {
			return r, fmt.Errorf("%w: %q", errNotSMTP, text[:min(len(text), 80)])
		}
		r.Code = code
		r.Lines = append(r.Lines, strings.TrimSpace(text[min(4, len(text)):]))
		if last {
			return r, nil
		}
	}
}

// cutCode reads the beginning of a line: a code, and whether more lines follow.
func cutCode(line string) (code int, last, ok bool) {
	if len(line) < 3 {
		return 0, false, false
	}
	code, err := strconv.Atoi(line[:3])
	if err != nil || code < 200 || code > 599 {
		return 0, false, false
	}
	if len(line) == 3 || line[3] == ' ' {
		return code, true, true
	}
	return code, false, line[3] == '-'
}
