package postfix

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"outrigger/internal/mailqueue"
)

// instance is a Postfix of the test's own, all in a temporary folder, that
// defers whatever it is given.
type instance struct {
	t   *testing.T
	dir string // its configuration
}

const mainCF = `compatibility_level = 3.6
queue_directory = %[1]s/spool
data_directory = %[1]s/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = loopback-only
inet_protocols = ipv4
myhostname = postfix.test
mydestination =
alias_maps =
alias_database =
default_transport = retry:4.3.0 not now
maillog_file = %[1]s/log
maillog_file_prefixes = %[1]s
`

// No service of it listens on a port.
const masterCF = `pickup    unix  n       -       n       60      1       pickup
cleanup   unix  n       -       n       -       0       cleanup
qmgr      unix  n       -       n       300     1       qmgr
rewrite   unix  -       -       n       -       -       trivial-rewrite
bounce    unix  -       -       n       -       0       bounce
defer     unix  -       -       n       -       0       bounce
trace     unix  -       -       n       -       0       bounce
flush     unix  n       -       n       1000?   0       flush
showq     unix  n       -       n       -       -       showq
error     unix  -       -       n       -       -       error
retry     unix  -       -       n       -       -       error
postlog   unix-dgram n  -       n       -       1       postlogd
`

// startInstance starts a Postfix: false where that needs what this machine or
// this user does not have.
func startInstance(t *testing.T) (*instance, bool) {
	t.Helper()
	owner, err := user.Lookup("postfix")
	if _, missing := os.Stat("/usr/sbin/postqueue"); os.Geteuid() != 0 || err != nil || missing != nil {
		return nil, false
	}
	// Its daemons run as its own user, who must reach the folder.
	dir, err := os.MkdirTemp("", "postfix-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	i := &instance{t, filepath.Join(dir, "etc")}
	uid, _ := strconv.Atoi(owner.Uid)
	for _, folder := range []string{"etc", "spool", "data"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Chmod(dir, 0o755),
		os.Chown(filepath.Join(dir, "data"), uid, -1),
		os.WriteFile(filepath.Join(i.dir, "main.cf"), fmt.Appendf(nil, mainCF, dir), 0o644),
		os.WriteFile(filepath.Join(i.dir, "master.cf"), []byte(masterCF), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	i.run("", "postfix", "-c", i.dir, "start")
	t.Cleanup(i.stop)
	return i, true
}

func (i *instance) stop() {
	// A second stop finds it stopped.
	_ = exec.Command("/usr/sbin/postfix", "-c", i.dir, "stop").Run()
}

// run runs one of Postfix's programs.
func (i *instance) run(input, program string, args ...string) string {
	i.t.Helper()
	cmd := exec.Command("/usr/sbin/"+program, args...)
	cmd.Env = append(os.Environ(), "MAIL_CONFIG="+i.dir)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		i.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

var queueID = regexp.MustCompile(`"deferred", "queue_id": "(\w+)"`)

// A real Postfix with deferred, held and undelivered mail, running and stopped.
func TestRealPostfix(t *testing.T) {
	i, ok := startInstance(t)
	if !ok {
		t.Log("not root, or no Postfix here: TestListingOfPostfix has what one listed")
		return
	}
	s := open(t, "/usr/sbin/postqueue", i.dir)
	want := func(size, errorSize int64) {
		t.Helper()
		expected := mailqueue.Sizes{Size: size, ErrorSize: errorSize}
		if sizes, err := s.Sizes(t.Context()); err != nil || sizes != expected {
			t.Errorf("%+v, %v; want %+v", sizes, err, expected)
		}
	}
	want(0, 0)
	for n := range 3 {
		i.run("Subject: x\n\nx\n", "sendmail", "-f", "a@postfix.test", fmt.Sprintf("r%d@example.com", n), "second@example.com")
	}
	deferred := i.awaitDeferred(3)
	want(3, 0)
	i.run("", "postsuper", "-c", i.dir, "-h", deferred[0])
	want(2, 1)
	i.run("", "postsuper", "-c", i.dir, "-d", deferred[1])
	want(1, 1)
	// Stopped, its superuser still sees the queue, and that is the queue.
	i.stop()
	want(1, 1)
}

// awaitDeferred waits until so many messages are deferred and gives their ids.
func (i *instance) awaitDeferred(n int) []string {
	i.t.Helper()
	late := time.After(time.Minute)
	for {
		var ids []string
		for _, found := range queueID.FindAllStringSubmatch(i.run("", "postqueue", "-c", i.dir, "-j"), -1) {
			ids = append(ids, found[1])
		}
		if len(ids) == n {
			return ids
		}
		select {
		case <-late:
			i.t.Fatalf("%d of %d messages are deferred", len(ids), n)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
