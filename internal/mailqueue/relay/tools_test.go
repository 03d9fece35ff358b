package relay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Postfix's own client and server at both ends: 300 messages, each of which
// arrives once, with the bytes that it has without the relay in between.
func TestPostfixesTools(t *testing.T) {
	const messages = 300
	file := filepath.Join(t.TempDir(), "message")
	must(t, os.WriteFile(file, []byte("From: a@example.com\nSubject: dots and more\n\n.\n..\n.a\n"+strings.Repeat("0123456789 ", 80)+"\nlast\n"), 0o644))
	send := func(addr string, n int) {
		source(t, addr, "-s", "20", "-m", fmt.Sprint(n), "-N", "-F", file, "-f", "a@example.com", "-t", "b@example.com")
	}
	direct, plain := dumps(t)
	send(direct, 1)
	want := ""
	for _, content := range plain(1) {
		want = hash(content)
	}

	through, relayed := dumps(t)
	w := newWorld(t, sqlite(t), setup{sender: func(o *SenderOptions) { o.Smarthost.Address = through }})
	send(w.addr, messages)
	w.settled(0, 0)
	got := relayed(messages)
	if len(got) != messages {
		t.Errorf("%d recipients have a message", len(got))
	}
	for to, content := range got {
		if _, rest := cutReceived(t, content); hash(rest) != want {
			t.Fatalf("%s has %q", to, rest)
		}
	}
	w.empty()
}

// dumps is an smtp-sink that writes down what it gets: read waits for as many
// messages and gives them by recipient, each of whom has one.
func dumps(t testing.TB) (addr string, read func(n int) map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dumps")
	must(t, os.Mkdir(dir, 0o755))
	reachable(t, dir)
	list := func() []os.DirEntry {
		files, err := os.ReadDir(dir)
		must(t, err)
		return files
	}
	return sink(t, "-d", filepath.Join(dir, "m.")), func(n int) map[string]string {
		w := &world{t: t}
		w.until("the dumps", func() bool { return len(list()) >= n })
		found := make(map[string]string)
		for _, f := range list() {
			raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
			must(t, err)
			to, content := cutDump(t, string(raw))
			if _, twice := found[to]; twice {
				t.Errorf("%s has it twice", to)
			}
			found[to] = content
		}
		return found
	}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// reachable opens the folders above a path to smtp-sink, which runs as nobody.
func reachable(t testing.TB, path string) {
	t.Helper()
	must(t, os.Chmod(path, 0o777))
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
}

// cutDump takes smtp-sink's own header off a message that it wrote down.
func cutDump(t testing.TB, dump string) (to, content string) {
	t.Helper()
	for {
		line, rest, found := strings.Cut(dump, "\n")
		dump = rest
		switch {
		case !found:
			t.Fatal("the dump has no header")
		case strings.HasPrefix(line, "X-Rcpt-Args: "):
			to = strings.TrimPrefix(line, "X-Rcpt-Args: ")
		case strings.HasPrefix(line, "Received: "):
			for strings.HasPrefix(dump, "\t") {
				_, dump, _ = strings.Cut(dump, "\n")
			}
			return to, strings.ReplaceAll(dump, "\n", "\r\n")
		}
	}
}
