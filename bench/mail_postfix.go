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
func (b *bench) postfix(ctx context.Context, sink string) (*mailer, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	// On the disk of the nodes' data, where Postfix's own users must come.
	root, err := os.MkdirTemp(filepath.Dir(b.dir), "postfix-")
	if err != nil {
		return nil, err
	}
	log := "/var/tmp/" + filepath.Base(root) + ".log" // Postfix writes it nowhere else
	b.atEnd(func() {
		os.RemoveAll(root)
		os.Remove(log)
	})
	if err := writePostfix(root, addr, sink); err != nil {
		return nil, err
	}
	conf := filepath.Join(root, "conf")
	if out, err := exec.CommandContext(ctx, "postfix", "-c", conf, "start").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("start Postfix: %w: %s", err, bytes.TrimSpace(out))
	}
	b.atEnd(func() { exec.Command("postfix", "-c", conf, "stop").Run() })
	if err := listening(ctx, addr); err != nil {
		return nil, fmt.Errorf("wait for Postfix: %w", err)
	}
	queue := filepath.Join(root, "queue")
	return &mailer{
		addr:  addr,
		empty: func(context.Context) (bool, error) { return postfixEmpty(queue), nil },
		cpu:   func() (time.Duration, error) { return postfixCPU(queue) },
	}, nil
}

// writePostfix writes its folders and its configuration.
func writePostfix(root, addr, sink string) error {
	if err := os.Chmod(root, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"conf", "queue", "data"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			return err
		}
	}
	if out, err := exec.Command("chown", "postfix", filepath.Join(root, "data")).CombinedOutput(); err != nil {
		return fmt.Errorf("chown: %w: %s", err, out)
	}
	host, port, err := net.SplitHostPort(sink)
	if err != nil {
		return err
	}
	main := fmt.Sprintf(postfixMain, root, host, port, filepath.Base(root))
	if err := os.WriteFile(filepath.Join(root, "conf", "main.cf"), []byte(main), 0o644); err != nil {
		return err
	}
	services, err := os.ReadFile("/usr/share/postfix/master.cf.dist")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "conf", "master.cf"), []byte(postfixServices(string(services), addr)), 0o644)
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
	b, err := os.ReadFile(filepath.Join(queue, "pid", "master.pid"))
	if err != nil {
		return 0, err
	}
	master, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0, err
	}
	total, err := loadtest.CPU(master)
	if err != nil {
		return 0, err
	}
	were, err := loadtest.CPUOfChildren(master)
	if err != nil {
		return 0, err
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", master, master))
	if err != nil {
		return 0, err
	}
	for _, field := range bytes.Fields(children) {
		pid, err := strconv.Atoi(string(field))
		if err != nil {
			return 0, err
		}
		if used, err := loadtest.CPU(pid); err == nil { // else it ended just now
			were += used
		}
	}
	return total + were, nil
}
