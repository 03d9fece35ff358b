//go:build soak

package acceptance

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
)

// before is the commit whose program the program of today must be able to stand
// beside: the last release, and until there is one that at which the schema was frozen.
const before = "0968ca668042e664851c423233ea16cc9ec6a92d"

// buildBefore builds that program, once.
var buildBefore = sync.OnceValues(func() (string, error) {
	if err := exec.Command("git", "cat-file", "-e", before+"^{commit}").Run(); err != nil {
		return "", fmt.Errorf("the history here has no commit %s, whose program these tests run: get all of it with git fetch --unshallow", before)
	}
	dir, err := os.MkdirTemp("", "outrigger-before-")
	if err != nil {
		return "", err
	}
	script := `cd "$(git rev-parse --show-toplevel)" && mkdir "$0/source" && git archive ` + before + ` | tar -x -C "$0/source" &&
		cd "$0/source" && CGO_ENABLED=0 go build -trimpath -o "$0/outrigger" ./cmd/outrigger`
	if out, err := exec.Command("sh", "-c", script, dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program of %s: %w\n%s", before, err, out)
	}
	return filepath.Join(dir, "outrigger"), nil
})

func programBefore(t *testing.T) string {
	t.Helper()
	program, err := buildBefore()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// TestSoakOlderProgram starts the program before on a database that today's has
// upgraded: everything is there and goes out, or it is refused in a sentence where
// the schema says that it must be.
func TestSoakOlderProgram(t *testing.T) {
	storedDatabases(t, func(t *testing.T, s *storedDatabase) {
		p := s.process(t, binary)
		start(t, p)
		stopped(t, p)
		p.Use(programBefore(t))
		if err := p.Spawn(); err != nil {
			t.Fatal(err)
		}
		if err := p.Ready(t.Context()); err != nil {
			if !strings.Contains(p.Log(), "Install the newer program") {
				t.Fatal(err)
			}
			t.Log("the schema needs the newer program")
		} else {
			s.everythingIsThere(t, p)
			stopped(t, p)
		}
		p.Use(binary)
		start(t, p)
		s.everythingIsThere(t, p)
		s.usersSignIn(t, p)
		s.whatWaitedGoesOut(t, p)
	})
}

// TestSoakKilledInEachSchemaFile kills a start before each statement of the schema
// files that were added since a database was stored. The next start completes it.
func TestSoakKilledInEachSchemaFile(t *testing.T) {
	all, err := filepath.Glob("testdata/stored/*/*")
	if err != nil || len(all) == 0 {
		t.Fatal("there are no stored databases", err)
	}
	for _, from := range all {
		t.Run(filepath.Base(filepath.Dir(from))+" "+filepath.Base(from), func(t *testing.T) {
			for k := 1; ; k++ {
				s := openStored(t, from, databases[filepath.Base(from)](t))
				p := s.process(t, binary)
				cmd := exec.CommandContext(t.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%s", diesAtEnv, k, p.Configuration()))
				out, _ := cmd.CombinedOutput() // how it ended is in its state
				if cmd.ProcessState.Success() {
					t.Logf("%d statements", k-1)
					break
				}
				if cmd.ProcessState.ExitCode() != -1 {
					t.Fatalf("it was not killed: %s\n%s", cmd.ProcessState, out)
				}
				start(t, p)
				s.everythingIsThere(t, p)
				s.usersSignIn(t, p)
				p.Kill()
			}
		})
	}
}

// TestSoakRollingUpgrade replaces the program before by today's under load, one node
// of two after the other: nothing is lost, out of order or sent twice.
func TestSoakRollingUpgrade(t *testing.T) {
	const channels, rate = 32, 200
	key := make([]byte, 32)
	rand.Read(key) // never fails (crypto/rand)
	sink := newSink(t, channels)
	s := loadtest.Settings{DatabaseURL: dbtest.PostgresURL(t), SecretKey: base64.StdEncoding.EncodeToString(key), Clustered: true}
	var nodes []*loadtest.Process
	for _, s.NodeID = range []string{"a", "b"} {
		p := node(t, s)
		p.Use(programBefore(t))
		start(t, p)
		nodes = append(nodes, p)
	}
	saveMixedRules(t, nodes[0], channels, sink)
	load := loadtest.NewLoad(channels, channels, nodes[0].Addr(), nodes[1].Addr())
	stop := background(t, load, rate)
	for _, p := range nodes {
		pass(t, 10*time.Second) // with both programs side by side
		stopped(t, p)
		p.Use(binary)
		start(t, p)
	}
	pass(t, 10*time.Second)
	stop()
	await(t, load, sink, patience, 0)
	for channel := range channels {
		for i, post := range load.Posts(channel) {
			if !post.Acknowledged() && post.Status != 0 && post.Status != 503 {
				t.Errorf("event %d of channel %d was answered %d", i+1, channel, post.Status)
			}
		}
	}
}
