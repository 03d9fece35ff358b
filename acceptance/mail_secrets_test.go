package acceptance

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"outrigger/internal/loadtest"
)

// secretKey is a key for nodes that share a database.
func secretKey() string {
	key := make([]byte, 32)
	rand.Read(key) // never fails (crypto/rand)
	return base64.StdEncoding.EncodeToString(key)
}

// showsSecret fails t where text has one of some secrets, as it is, or as tools
// write bytes.
func showsSecret(t *testing.T, what string, text []byte, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		forms := []string{secret, hex.EncodeToString([]byte(secret))}
		for skip := range 3 {
			whole := secret[skip : len(secret)-(len(secret)-skip)%3]
			forms = append(forms, base64.StdEncoding.EncodeToString([]byte(whole)))
		}
		for _, form := range forms {
			if bytes.Contains(text, []byte(form)) {
				t.Errorf("%s shows a secret: %s", what, secret)
			}
		}
	}
}

// noneShows looks for secrets in what a node answers.
func noneShows(t *testing.T, p *loadtest.Process, secrets []string) {
	t.Helper()
	for _, path := range []string{
		"/metrics", "/rest/outrigger/1.0/mail", "/rest/outrigger/1.0/mail/messages?limit=1000", "/rest/outrigger/1.0/nodes", "/rest/outrigger/1.0/audit",
		"/rest/mailqueue/1.0/clusterStatus",
	} {
		showsSecret(t, path, []byte(answered(t, p, http.DefaultClient, path)), secrets)
	}
	c := console(t, p)
	for _, path := range []string{"/", "/mail", "/mail/check", "/system/nodes", "/system/audit"} {
		showsSecret(t, path, []byte(answered(t, p, c, path)), secrets)
	}
	showsSecret(t, "mail check", []byte(outrigger(t, p, "mail", "check")), secrets)
}

// noneInFiles looks for secrets in all files of a folder but the configuration,
// which has them.
func noneInFiles(t *testing.T, folder string, secrets []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "outrigger.yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		showsSecret(t, path, data, secrets)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// noneInDatabase looks for secrets in every table of a database.
func noneInDatabase(t *testing.T, url string, secrets []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var names []string
	if err := conn.QueryRow(t.Context(), `SELECT array_agg(table_name::text) FROM information_schema.tables WHERE table_schema = 'public'`).Scan(&names); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var rows string
		table := pgx.Identifier{name}.Sanitize()
		if err := conn.QueryRow(t.Context(), `SELECT COALESCE(string_agg(t::text, E'\n'), '') FROM `+table+` t`).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		showsSecret(t, "the table "+name, []byte(rows), secrets)
	}
	if len(names) < 10 {
		t.Errorf("the database has %d tables", len(names))
	}
}

// wholeLog is all that a node wrote.
func wholeLog(t *testing.T, p *loadtest.Process) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Settings.Dir, "outrigger.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
