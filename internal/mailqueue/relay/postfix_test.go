package relay

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// postfix starts a Postfix of its own, which passes everything to smarthost, and
// gives its address and its queue folder. It needs root, as Postfix does.
func postfix(t testing.TB, smarthost string) (addr, queue string) {
	t.Helper()
	// Postfix's own users must reach its folders.
	root, err := os.MkdirTemp("/var/tmp", "postfix")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(root) })
	must(t, os.Chmod(root, 0o755))
	conf, queue, data := filepath.Join(root, "conf"), filepath.Join(root, "queue"), filepath.Join(root, "data")
	for _, dir := range []string{conf, queue, data} {
		must(t, os.Mkdir(dir, 0o755))
	}
	must(t, exec.Command("chown", "postfix", data).Run())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	addr = l.Addr().String()
	must(t, l.Close())
	host, port, err := net.SplitHostPort(smarthost)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(conf, "main.cf"), fmt.Appendf(nil, `compatibility_level = 3.6
queue_directory = %s
data_directory = %s
mail_owner = postfix
setgid_group = postdrop
myhostname = postfix.example
mydestination =
mynetworks = 127.0.0.0/8
relayhost = [%s]:%s
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
alias_database =
maillog_file = /var/tmp/%s.log
maillog_file_prefixes = /var/tmp
smtpd_peername_lookup = no
smtp_dns_support_level = disabled
smtp_host_lookup = native
`, queue, data, host, port, filepath.Base(root)), 0o644))
	t.Cleanup(func() { os.Remove("/var/tmp/" + filepath.Base(root) + ".log") })
	_, port, _ = net.SplitHostPort(addr)
	master, err := os.ReadFile("/usr/share/postfix/master.cf.dist")
	must(t, err)
	text := strings.Replace(string(master), "\nsmtp      inet", "\n127.0.0.1:"+port+" inet", 1)
	text = unchrooted(text)
	must(t, os.WriteFile(filepath.Join(conf, "master.cf"), []byte(text), 0o644))
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("postfix", append([]string{"-c", conf}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("postfix %v: %v\n%s", args, err, out)
		}
	}
	run("start")
	t.Cleanup(func() { run("stop") })
	return addr, queue
}

// unchrooted has every service see the machine as it is.
func unchrooted(master string) string {
	lines := strings.Split(master, "\n")
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 8 || strings.HasPrefix(line, "#") || line[0] == ' ' {
			continue
		}
		fields[4] = "n"
		lines[i] = strings.Join(fields, " ")
	}
	return strings.Join(lines, "\n")
}

// waiting counts the messages in Postfix's queue.
func waitingIn(queue string) (n int) {
	for _, part := range []string{"maildrop", "incoming", "active", "deferred"} {
		filepath.WalkDir(filepath.Join(queue, part), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				n++
			}
			return nil
		})
	}
	return n
}

// BenchmarkPostfix is what BenchmarkRelay is measured against.
func BenchmarkPostfix(b *testing.B) {
	addr, queue := postfix(b, sink(b))
	b.ResetTimer()
	pump(b, addr)
	w := &world{t: b}
	w.until("an empty queue", func() bool { return waitingIn(queue) == 0 })
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
