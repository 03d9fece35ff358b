package relay

import (
	"strings"
	"testing"
)

func FuzzInspector(f *testing.F) {
	f.Add([]byte(letter))
	f.Add([]byte("Subject: a\r\n b\r\n\tc\r\nReceived: x\r\n\r\nReceived: y"))
	f.Add([]byte("Subject: =?utf-8?b?w7w=?=\r\nMessage-Id :<a>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var whole, bytewise inspector
		whole.Write(text)
		for i := range text {
			bytewise.Write(text[i : i+1])
		}
		whole.close()
		bytewise.close()
		if whole.received != bytewise.received || whole.subject != bytewise.subject || whole.messageID != bytewise.messageID ||
			whole.eightBit != bytewise.eightBit || whole.utf8 != bytewise.utf8 {
			t.Errorf("at once %+v, by bytes %+v", whole, bytewise)
		}
		if len(whole.subject) > maxSubject+len("…") || strings.ContainsAny(whole.subject, "\x00\r\n") {
			t.Errorf("the subject is %q", whole.subject)
		}
	})
}
