package console

import (
	"encoding/base64"
	"strings"
)

const (
	flashCookie = "outrigger_flash"
	flashAge    = 60   // seconds; longer than any redirect takes
	flashLimit  = 1000 // bytes, so that the cookie stays far under a browser's 4 KiB
)

// flash is a sentence that the next page shows once.
type flash struct {
	Tone Tone
	Text string
}

// setFlash keeps the sentence in a cookie. It is not signed: a forged
// cookie can at most show the reader a sentence, which is escaped.
func (x *exchange) setFlash(text string, tone Tone) {
	if tone == "" {
		tone = Good
	}
	if len(text) > flashLimit {
		text = strings.ToValidUTF8(text[:flashLimit], "") + "…"
	}
	x.cookie(flashCookie, base64.RawURLEncoding.EncodeToString([]byte(string(tone)+" "+text)), flashAge)
}

func (x *exchange) takeFlash() *flash {
	cookie, err := x.r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	x.dropCookie(flashCookie)
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return nil
	}
	tone, sentence, ok := strings.Cut(string(text), " ")
	if !ok || !Tone(tone).known() {
		return nil
	}
	return &flash{Tone(tone), sentence}
}
