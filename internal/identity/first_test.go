package identity

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

func initialPassword(t *testing.T, n node) string {
	t.Helper()
	path := filepath.Join(n.dir, "initial-password")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	info, err2 := os.Stat(path)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v", info.Mode())
	}
	return strings.TrimSpace(string(text))
}

func TestFirstStart(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		password := initialPassword(t, n)
		if len(password) < 20 {
			t.Errorf("the password has %d characters", len(password))
		}
		p, err := n.Basic(t.Context(), "admin", password, here)
		if err != nil || !p.May(SysAdmin, Resource{}) {
			t.Fatalf("%+v, %v", p, err)
		}
		if strings.Contains(n.log.String(), password) || !strings.Contains(n.log.String(), "initial-password") {
			t.Errorf("the log says %s", n.log)
		}
		if err := n.Start(t.Context()); err != nil || initialPassword(t, n) != password {
			t.Errorf("a second start changes it: %v", err)
		}
		if want := `["","create","user","admin"]{}{"name":"admin","permission":"SYS_ADMIN"}`; len(n.trail(t)) != 1 || n.trail(t)[0] != want {
			t.Errorf("the trail is %v", n.trail(t))
		}
		if err := n.SetPassword(t.Context(), "Admin", secret.New(goodPassword)); err != nil {
			t.Fatal(err)
		}
		if got := initialPassword(t, n); got != "" {
			t.Error("the file is still there after the first change")
		}
		if err := n.Start(t.Context()); err != nil || initialPassword(t, n) != "" {
			t.Errorf("a start after the change makes it again: %v", err)
		}
	})
}

func TestFirstStartWithConfiguredPassword(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.first = secret.New("too short")
		if err := n.Start(t.Context()); err == nil || err.Error() != "admin_password is refused: Use at least 10 characters." {
			t.Errorf("a short one: %v", err)
		}
		n.first = secret.New(goodPassword)
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p, err := n.Basic(t.Context(), "admin", goodPassword, here); err != nil || !p.May(SysAdmin, Resource{}) {
			t.Errorf("%+v, %v", p, err)
		}
		files, err := os.ReadDir(n.dir)
		if err != nil || len(files) != 0 {
			t.Errorf("the folder has %v, %v", files, err)
		}
		n.first = secret.New("another password")
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Basic(t.Context(), "admin", "another password", here); err == nil {
			t.Error("the configured password is read again")
		}
	})
}

// TestTwoNodesStartAtOnce: one administrator, and one file that holds their
// password, whether they share the folder or not.
func TestTwoNodesStartAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		nodes := []node{newNode(t, d, c), newNode(t, d, c), newNode(t, d, c)}
		nodes[2].dir, nodes[2].dataDir = nodes[1].dir, nodes[1].dir
		var wg sync.WaitGroup
		for _, n := range nodes {
			wg.Go(func() {
				if err := n.Start(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		passwords := map[string]bool{}
		for _, n := range nodes {
			if p := initialPassword(t, n); p != "" {
				passwords[p] = true
			}
			if left, _ := filepath.Glob(filepath.Join(n.dir, "initial-password.*")); len(left) > 0 {
				t.Errorf("drafts are left: %v", left)
			}
		}
		users, err := nodes[0].Users(t.Context(), "", 10)
		if err != nil || len(users) != 1 || len(passwords) != 1 {
			t.Fatalf("%d users, %d passwords, %v", len(users), len(passwords), err)
		}
		for p := range passwords {
			if _, err := nodes[0].Basic(t.Context(), "admin", p, here); err != nil {
				t.Errorf("the password does not hold: %v", err)
			}
		}
	}, secret.Migrations, audit.Migrations, Migrations)
}

func TestFileGoesWhenChangedElsewhere(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		one, other := newNode(t, d, c), newNode(t, d, c)
		if err := one.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := other.SetPassword(t.Context(), "admin", secret.New(goodPassword)); err != nil {
			t.Fatal(err)
		}
		if err := one.Start(t.Context()); err != nil || initialPassword(t, one) != "" {
			t.Errorf("the file is still there after the next start: %v", err)
		}
	}, secret.Migrations, audit.Migrations, Migrations)
}
