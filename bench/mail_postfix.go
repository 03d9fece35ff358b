package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/loadtest"
)

// postfixMain is a Postfix as it comes, but that it passes everything to the
// sink, and asks no name server.
const postfixMain = `compatibility_level = 3.6
queue_directory = %[1]s/queue
data_directory = %[1]s/data
mail_owner = postfix
setgid_group = postdrop
myhostname = postfix.example
mydestination =
mynetworks = 127.0.0.0/8
relayhost = [%[2]s]:%[3]s
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
alias_database =
maillog_file = /var/tmp/%[4]s.log
maillog_file_prefixes = /var/tmp
smtpd_peername_lookup = no
smtp_dns_support_level = disabled
smtp_host_lookup = native
`

// postfix is a Postfix of its own.
func (b *bench) postfix(ctx context.Context, sink string) *meter {
	addr := freeAddress()
	// On the disk of the nodes' data, where Postfix's own users must come.
	root := must(os.MkdirTemp(filepath.Dir(b.dir), "postfix-"))
	log := "/var/tmp/" + filepath.Base(root) + ".log" // Postfix writes it nowhere else
	b.atEnd(func() {
		os.RemoveAll(root)
		os.Remove(log)
	})
	writePostfix(root, addr, sink)
	conf, queue := filepath.Join(root, "conf"), filepath.Join(root, "queue")
	command(exec.CommandContext(ctx, "postfix", "-c", conf, "start"))
	b.atEnd(func() { exec.Command("postfix", "-c", conf, "stop").Run() })
	listening(ctx, addr)
	return mailer(addr, func() bool { return postfixEmpty(queue) }, func() (time.Duration, error) { return postfixCPU(queue) })
}

// writePostfix writes its folders and its configuration.
func writePostfix(root, addr, sink string) {
	check(os.Chmod(root, 0o755))
	for _, name := range []string{"conf", "queue", "data"} {
		check(os.Mkdir(filepath.Join(root, name), 0o755))
	}
	command(exec.Command("chown", "postfix", filepath.Join(root, "data")))
	host, port, err := net.SplitHostPort(sink)
	check(err)
	main := fmt.Sprintf(postfixMain, root, host, port, filepath.Base(root))
	check(os.WriteFile(filepath.Join(root, "conf", "main.cf"), []byte(main), 0o644))
	services := string(must(os.ReadFile("/usr/share/postfix/master.cf.dist")))
	check(os.WriteFile(filepath.Join(root, "conf", "master.cf"), []byte(postfixServices(services, addr)), 0o644))
}

// postfixServices has the SMTP server listen at addr, and every service see the
// machine as it is: a new queue folder has nothing to be changed to.
func postfixServices(services, addr string) string {
	lines := strings.Split(services, "\n")
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 8 || strings.HasPrefix(line, "#") || line[0] == ' ' {
			continue
		}
		if fields[0] == "smtp" && fields[1] == "inet" {
			fields[0] = addr
		}
		fields[4] = "n"
		lines[i] = strings.Join(fields, " ")
	}
	return strings.Join(lines, "\n")
}

// errWaiting ends a walk at the first message.
var errWaiting = errors.New("a message waits")

// postfixEmpty reports whether no message is in the queue.
func postfixEmpty(queue string) bool {
	for _, part := range []string{"active", "incoming", "maildrop", "deferred"} {
		err := filepath.WalkDir(filepath.Join(queue, part), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				return errWaiting
			}
			return nil // a folder that is gone meanwhile
		})
		if err != nil {
			return false
		}
	}
	return true
}

// postfixCPU is the processor time of its processes: of the master, of the
// children that are, and of those that were.
func postfixCPU(queue string) (time.Duration, error) {
	master := must(strconv.Atoi(string(bytes.TrimSpace(must(os.ReadFile(filepath.Join(queue, "pid", "master.pid")))))))
	total := must(loadtest.CPU(master)) + must(loadtest.CPUOfChildren(master))
	for _, field := range bytes.Fields(must(os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", master)))) {
		if used, err := loadtest.CPU(must(strconv.Atoi(string(field)))); err == nil { // else it ended just now
			total += used
		}
	}
	return total, nil
}
