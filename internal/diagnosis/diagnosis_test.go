package diagnosis

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/secret"
)

func TestLines(t *testing.T) {
	var l Lines
	if got := l.All(); len(got) != 0 {
		t.Errorf("%d lines of nothing", len(got))
	}
	for i := range 2*maxLines + 7 {
		fmt.Fprintf(&l, "line %d\n", i)
	}
	got := l.All()
	if len(got) != maxLines {
		t.Fatalf("%d lines are kept", len(got))
	}
	for i, line := range got {
		if want := fmt.Sprintf("line %d\n", maxLines+7+i); line != want {
			t.Fatalf("line %d is %q, want %q", i, line, want)
		}
	}
	if _, err := l.Write([]byte(strings.Repeat("x", 3*maxLine))); err != nil {
		t.Fatal(err)
	}
	if last := l.All()[maxLines-1]; len(last) > maxLine+10 {
		t.Errorf("a line of %d bytes is kept", len(last))
	}
}

func TestLinesAtOnce(t *testing.T) {
	var l Lines
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range maxLines {
				fmt.Fprintln(&l, "whole line")
				l.All()
			}
		})
	}
	wg.Wait()
	for _, line := range l.All() {
		if line != "whole line\n" {
			t.Fatalf("a line is %q", line)
		}
	}
}

// Secrets of the settings and what is behind the host of a URL are hidden wherever
// they stand.
func TestMasker(t *testing.T) {
	c := config.Default()
	c.Mail.SmarthostPassword = secret.New("pass-word")
	c.Notify.Connections = []config.Connection{{Name: "code", Token: secret.New("pass-word-and-more"), WebhookSecret: secret.New("two\nlines")}}
	hide := masker(c)
	for text, want := range map[string]string{
		`password=pass-word`:         `password=<secret>`,
		`token pass-word-and-more.`:  `token <secret>.`,
		`{"error":"not two\nlines"}`: `{"error":"not <secret>"}`,
		`asked https://chat.example.com/workflows/x/invoke?sig=abc twice`:                  `asked https://chat.example.com/…/invoke?…sig=•••• twice`,
		`{"url":"HTTPS://chat.example.com/services/T0/B0/x","n":1}`:                        `{"url":"https://chat.example.com/…","n":1}`,
		`postgres://o:geheim@db.example.com/outrigger`:                                     `postgres://db.example.com/…`,
		`{"error":"no flow https:\/\/chat.example.com\/services\/T0\/x","n":1}`:            `{"error":"no flow https://chat.example.com/…","n":1}`,
		`"reason":"{\"url\":\"https:\\/\\/chat.example.com\\/services\\/x\"}"`:             `"reason":"{\"url\":\"https://chat.example.com/…\"}"`,
		`"https://chat.example.com/x/invoke?a=1\u0026sig=abc" "https://c.example.com/o'x"`: `"https://chat.example.com/…/invoke?…sig=••••" "https://c.example.com/…"`,
		`socks5://o:pass-word@proxy.example.com:1080/path`:                                 `socks5://proxy.example.com:1080/…`,
		`nothing to hide`: `nothing to hide`,
	} {
		if got := hide(text); got != want {
			t.Errorf("%s becomes\n%s, want\n%s", text, got, want)
		}
	}
}
