package acceptance

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// mailServer is Dovecot's submission service: clients sign in with tokens, within
// TLS, and what they send goes on to another server.
type mailServer struct {
	dir           string
	startTLS, tls string // addresses
	said          lockedText
}

// lockedText takes what a process writes.
type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const dovecotConf = `base_dir = DIR/run
state_dir = DIR/state
log_path = /dev/stderr
protocols = submission
listen = 127.0.0.1
ssl = required
ssl_cert = <DIR/cert.pem
ssl_key = <DIR/key.pem
auth_mechanisms = MECHANISMS
auth_failure_delay = 0
mail_location = maildir:DIR/mail
passdb {
  driver = oauth2
  mechanisms = MECHANISMS
  args = DIR/oauth2.conf
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=DIR/mail
}
service submission-login {
  inet_listener submission {
    port = STARTTLS
  }
  inet_listener submissions {
    port = IMPLICIT
    ssl = yes
  }
}
# Wrong sign-ins from one address are not slowed, as they are by default.
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
submission_relay_host = 127.0.0.1
submission_relay_port = RELAY
`

const dovecotTokens = `introspection_mode = post
introspection_url = INTROSPECTION
username_attribute = username
active_attribute = active
active_value = true
`

// startDovecot starts one that has tokens checked at that page and sends on to
// relay. It reads its files as several users, so they lie where all may.
func startDovecot(t *testing.T, mechanisms, introspection, relay string) *mailServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "dovecot-") // short, for the paths of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &mailServer{dir: dir, startTLS: freeAddress(t), tls: freeAddress(t)}
	port := func(address string) string {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	fill := strings.NewReplacer("DIR", dir, "MECHANISMS", mechanisms, "STARTTLS", port(s.startTLS), "IMPLICIT", port(s.tls),
		"RELAY", port(relay), "INTROSPECTION", introspection)
	cert, key := ownCertificate(t)
	for name, content := range map[string]string{
		"dovecot.conf": fill.Replace(dovecotConf), "oauth2.conf": fill.Replace(dovecotTokens), "cert.pem": cert, "key.pem": key,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "mail"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, open := range []string{dir, filepath.Join(dir, "mail")} {
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	s.run(t)
	return s
}

func (s *mailServer) run(t *testing.T) {
	t.Helper()
	cmd := exec.Command("dovecot", "-F", "-c", filepath.Join(s.dir, "dovecot.conf"))
	cmd.Stdout, cmd.Stderr = &s.said, &s.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // outlives no test that crashed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) // fails only where it has ended already
		_ = cmd.Wait()
		if t.Failed() {
			said := s.said.String()
			t.Logf("the end of what Dovecot said:\n%s", said[max(0, len(said)-4<<10):])
		}
	})
	until(t, patience, "Dovecot does not listen", func() bool {
		conn, err := net.Dial("tcp", s.tls)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// certificate is the file of its certificate.
func (s *mailServer) certificate() string { return filepath.Join(s.dir, "cert.pem") }

// hangUp ends all sessions of a mailbox, as a server does when a token ends.
func (s *mailServer) hangUp(t *testing.T, mailbox string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "doveadm", "-c", filepath.Join(s.dir, "dovecot.conf"), "kick", mailbox).CombinedOutput()
	if err != nil && !bytes.Contains(out, []byte("no users kicked")) {
		t.Fatalf("doveadm kick: %v\n%s", err, out)
	}
}

// ownCertificate is one for this machine and its key, in PEM.
func ownCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	raw, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}
