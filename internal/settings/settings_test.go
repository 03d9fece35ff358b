package settings

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const proxy = "http://ana:p%40ss-SECRET@proxy.example.com:3128"
const masked = "http://ana:••••@proxy.example.com:3128"

// node is a store of one node, and what it applied.
func node(t *testing.T, d *db.DB, key byte) (*Store, chan string) {
	t.Helper()
	box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{key}, secret.KeySize), nil)
	if err != nil {
		t.Fatal(err)
	}
	applied := make(chan string, 100)
	s := NewStore(d, box, slog.New(slog.DiscardHandler), func(s *Settings) { applied <- plain(s) }, func(context.Context) error { return nil })
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s, applied
}

func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	dbtest.Each(t, fn, secret.Migrations, audit.Migrations, Migrations)
}

func asAna(t *testing.T) context.Context {
	return identity.With(t.Context(), &identity.Principal{
		Name: "ana", Source: identity.Local, Scope: identity.All, Grants: []identity.Grant{{Permission: identity.SysAdmin}},
	})
}

func TestSave(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s, applied := node(t, d, 1)
		if got, err := s.Read(t.Context()); err != nil || got.ProxyURL() != "" || got.Version != 0 {
			t.Fatalf("at first: %+v, %v", got, err)
		}
		save := func(raw string, version int64) *Settings {
			t.Helper()
			got, err := s.Save(asAna(t), Draft{ProxyURL: raw, Version: version}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := save(" "+proxy+" ", 0); got.ProxyURL() != masked || got.Version != 1 || got.UpdatedBy != "ana" || got.UpdatedAt.IsZero() {
			t.Errorf("saved: %+v", got)
		}
		if now := <-applied; now != proxy {
			t.Errorf("applied: %s", now)
		}
		if got := save(masked, 1); got.Version != 1 || plain(got) != proxy {
			t.Errorf("saved unchanged: %+v", got)
		}
		if got, err := s.Read(t.Context()); err != nil || plain(got) != proxy || got.UpdatedBy != "ana" {
			t.Errorf("read: %+v, %v", got, err)
		}
		if _, err := s.Save(asAna(t), Draft{ProxyURL: "", Version: 7}, nil); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "ana") {
			t.Errorf("a stale version: %v", err)
		}
		save(strings.Replace(proxy, "SECRET", "SECRET2", 1), 1)
		save("", 0)
		if strings.HasSuffix(<-applied, "SECRET2@proxy.example.com:3128") != true || <-applied != "" {
			t.Error("not all saves were applied")
		}
		if stored := dump(t, d); strings.Contains(stored, "SECRET") || !strings.Contains(stored, `"password":"changed"`) || strings.Count(stored, "••••") != 2 {
			t.Errorf("the audit trail and the table hold %s", stored)
		}
	})
}

// dump is what the database holds of the settings, in the order of time.
func dump(t *testing.T, d *db.DB) string {
	t.Helper()
	var all strings.Builder
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT who, before_json, after_json FROM audit_entries WHERE object = 'settings' ORDER BY id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var who, before, after string
			if err := rows.Scan(&who, &before, &after); err != nil {
				return err
			}
			all.WriteString(who + before + after + "\n")
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestStoredEncrypted(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s, _ := node(t, d, 1)
		if _, err := s.Save(asAna(t), Draft{ProxyURL: proxy}, nil); err != nil {
			t.Fatal(err)
		}
		var sealed []byte
		if err := d.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT proxy_url FROM settings`).Scan(&sealed)
		}); err != nil {
			t.Fatal(err)
		}
		if len(sealed) == 0 || bytes.Contains(sealed, []byte("proxy.example.com")) {
			t.Errorf("stored as %q", sealed)
		}
		// What another key sealed is no proxy, and can be entered again.
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE settings SET proxy_url = $1`, []byte("sealed with another key"))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(t.Context()); err != nil || !got.Unreadable || got.Proxy != nil {
			t.Errorf("unreadable: %+v, %v", got, err)
		}
		if got, err := s.Save(asAna(t), Draft{}, nil); err != nil || got.Unreadable || got.Version != 2 {
			t.Errorf("cleared: %+v, %v", got, err)
		}
	})
}

// A password goes to the proxy that it was entered for, and to no other.
func TestMaskedPasswordIsKeptForTheSameProxyOnly(t *testing.T) {
	stored := &Settings{}
	var err error
	if stored.Proxy, err = stored.readProxy(proxy); err != nil {
		t.Fatal(err)
	}
	for raw, keeps := range map[string]bool{
		masked:       true,
		masked + "/": true,
		"https://ana:••••@proxy.example.com:3128":  false,
		"socks5://ana:••••@proxy.example.com:3128": false,
		"http://ana:••••@proxy.example.org:3128":   false,
		"http://ana:••••@proxy.example.com:3129":   false,
		"http://ana:••••@proxy.example.com":        false,
		"http://bob:••••@proxy.example.com:3128":   false,
		"http://:••••@proxy.example.com:3128":      false,
	} {
		got, err := stored.readProxy(raw)
		if keeps && (err != nil || got.String() != proxy) {
			t.Errorf("%s: %v, %v", raw, got, err)
		}
		if !keeps && (!fault.Is(err, fault.Invalid) || got != nil) {
			t.Errorf("%s keeps the password: %v, %v", raw, got, err)
		}
	}
	for raw, says := range map[string]string{"ftp://x": "must begin with", masked: "Enter the password again"} {
		_, err := (&Settings{}).readProxy(raw)
		if e := fault.As(err); e == nil || len(e.Fields) != 1 || e.Fields[0].Name != "proxyUrl" || !strings.Contains(e.Fields[0].Message, says) {
			t.Errorf("%s, with nothing stored: %v", raw, err)
		}
	}
	// Without a password, the password is gone: it is not asked for again.
	if got, err := stored.readProxy("http://ana@proxy.example.com:3128"); err != nil || got.String() != "http://ana@proxy.example.com:3128" {
		t.Errorf("without a password: %v, %v", got, err)
	}
}

// What one node saves, another one applies by itself.
func TestOtherNodes(t *testing.T) {
	d := dbtest.Postgres(t, secret.Migrations, audit.Migrations, Migrations)
	if err := d.Migrate(t.Context(), secret.Migrations, audit.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	one, _ := node(t, d, 1)
	_, applied := node(t, d, 1)
	if _, err := one.Save(asAna(t), Draft{ProxyURL: proxy}, nil); err != nil {
		t.Fatal(err)
	}
	if now := <-applied; now != proxy {
		t.Errorf("applied: %s", now)
	}
}

func TestSchema(t *testing.T) { dbtest.SameSchema(t, secret.Migrations, audit.Migrations, Migrations) }

func TestMaskPassword(t *testing.T) {
	for raw, want := range map[string]string{
		proxy:                          masked,
		"socks5://a%40b:x@proxy":       "socks5://a%40b:••••@proxy",
		"http://ana@proxy":             "http://ana@proxy",
		"http://proxy:3128":            "http://proxy:3128",
		"http://:x@[fd00::1]:3128":     "http://:••••@[fd00::1]:3128",
		"http://ana:%E2%80%A2@proxy:1": "http://ana:••••@proxy:1",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := secret.MaskPassword(u); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}
