package app

import (
	"errors"
	"io"
	"net/http"
	"net/smtp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

// figures is what /metrics says, by name and labels as they are written.
func figures(t *testing.T, a *App) map[string]float64 {
	t.Helper()
	status, body := get(t, a.URL()+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("%d %.300s", status, body)
	}
	found := map[string]float64{}
	for line := range strings.Lines(body) {
		i := strings.LastIndexByte(line, ' ')
		if v, err := strconv.ParseFloat(strings.TrimSpace(line[i+1:]), 64); err == nil && line[0] != '#' {
			found[line[:i]] = v
		}
	}
	return found
}

// named returns the figure whose name and labels begin so, and the whole of them.
func named(found map[string]float64, prefix string) (v float64, whole string) {
	for name, v := range found {
		if strings.HasPrefix(name, prefix) {
			return v, name
		}
	}
	return -1, ""
}

func withPublicMetrics(cfg *config.Config) *config.Config {
	cfg.Metrics.Public = true
	return cfg
}

// becomes waits until a figure has a value; -1 is: not there.
func becomes(t *testing.T, a *App, name string, want float64) {
	t.Helper()
	eventually(t, func() bool { v, _ := named(figures(t, a), name); return v == want })
}

// sendPlain is sendMail without TLS, also where it is offered.
func sendPlain(a *App, subject string) error {
	c, err := smtp.Dial(a.MailAddr())
	if err != nil {
		return err
	}
	defer c.Close()
	if err := errors.Join(c.Mail("jira@example.com"), c.Rcpt("ada@example.com")); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "Subject: "+subject+"\r\n\r\nhello\r\n")
	return errors.Join(err, w.Close())
}

// Each figure about the state of a server is seen to change with it, on a server
// whose disk, certificate and smarthost are a test's.
func TestMetricsFollowTheState(t *testing.T) {
	disk := dbtest.NewDisk(t, 64)
	files := tlsFiles(t)
	writeCertificate(t, files, "first", time.Now())
	cfg := withPublicMetrics(withChat(t))
	cfg.DataDir = filepath.Join(disk.Dir, "data")
	cfg.Mail.TLS = config.MailTLS(files)
	cfg.Mail.Smarthost, cfg.Mail.SmarthostTLS = "127.0.0.1:1", "none" // where nothing listens
	a := startWith(t, cfg, Options{Version: "v0"})                    // a new database: its file grows
	first := figures(t, a)
	for name, want := range map[string]float64{
		`outrigger_ready`: 1, `outrigger_not_ready_info`: -1, `outrigger_build_info{commit="",goversion="go`: 1,
		`outrigger_cluster_nodes{state="ACTIVE"}`: 1, `outrigger_cluster_nodes{state="OFFLINE"}`: 0, `outrigger_db_leases_lost_total`: 0,
		`outrigger_mail_paused{node="n1"}`: 0, `outrigger_mail_smarthost_paused{node="n1",reason=""}`: 0,
		`outrigger_backup_last_timestamp_seconds`: 0, `outrigger_retention_last_round_timestamp_seconds`: -1, `outrigger_restore_waiting`: 0,
		`outrigger_attention{kind="restore"}`: -1, `outrigger_mail_queue_messages{node="n1"}`: 0,
	} {
		if v, _ := named(first, name); v != want {
			t.Errorf("at first %s is %v, want %v", name, v, want)
		}
	}
	for _, name := range []string{"outrigger_db_size_bytes", "outrigger_db_log_size_bytes", "outrigger_data_folder_free_bytes", "outrigger_db_commit_seconds_count",
		`outrigger_db_log_seconds_count{step="begin"}`, `outrigger_db_log_seconds_count{step="trim"}`} {
		if first[name] <= 0 {
			t.Errorf("at first %s is %v", name, first[name])
		}
	}
	if size := first["outrigger_data_folder_filesystem_size_bytes"]; size < 40<<20 || size > 64<<20 {
		t.Errorf("the file system has %v bytes", size)
	}

	began := float64(time.Now().Unix())
	for i := range 20 {
		if err := sendPlain(a, strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := figures(t, a)[`outrigger_mail_queue_messages{node="n1"}`]; n != 20 {
		t.Errorf("20 messages wait, and the figure is %v", n)
	}
	eventually(t, func() bool {
		v, whole := named(figures(t, a), `outrigger_mail_smarthost_paused{node="n1",reason="The smarthost`)
		return v == 1 && strings.Contains(whole, "127.0.0.1:1")
	})
	if status := do(t, "POST", a.URL()+"/rest/outrigger/1.0/mail/pause", `{"node":"n1"}`); status != http.StatusNoContent {
		t.Errorf("pause: %d", status)
	}
	becomes(t, a, `outrigger_mail_paused{node="n1"}`, 1)
	file := savedBackup(t, a)
	a.retention.Load().Wake()
	eventually(t, func() bool { return figures(t, a)["outrigger_retention_last_round_timestamp_seconds"] >= began })
	empty := disk.Fill(t, 16<<20)
	writeCertificate(t, files, "second", time.Now().Add(24*time.Hour))
	if _, err := a.certificates[0].get(nil); err != nil { // as a client's greeting does
		t.Error(err)
	}
	now := figures(t, a)
	if at := now["outrigger_backup_last_timestamp_seconds"]; at < began {
		t.Errorf("the last backup was at %v, and it began at %v", at, began)
	}
	for _, name := range []string{"outrigger_db_log_size_bytes", "outrigger_db_commit_seconds_count"} {
		if now[name] <= first[name] {
			t.Errorf("%s is %v, and was %v", name, now[name], first[name])
		}
	}
	if free := now["outrigger_data_folder_free_bytes"]; free > 17<<20 || free < 8<<20 {
		t.Errorf("%v bytes are free", free)
	}
	certificate := `outrigger_tls_certificate_expiry_timestamp_seconds{file="` + files.Cert + `"}`
	if later := now[certificate] - first[certificate]; later < 86000 || later > 87000 {
		t.Errorf("the certificate that is a day younger ends %v s later", later)
	}
	empty()
	if err := a.Stop(t.Context()); err != nil { // the log is moved
		t.Fatal(err)
	}
	a = start(t, cfg)
	if was, is := first["outrigger_db_size_bytes"], figures(t, a)["outrigger_db_size_bytes"]; is <= was {
		t.Errorf("the database has %v bytes, and had %v", is, was)
	}

	b := start(t, withPublicMetrics(restored(t, cfg, file)))
	becomes(t, b, `outrigger_restore_waiting`, 1)
	becomes(t, b, `outrigger_attention{kind="restore"}`, 1)
	if status := do(t, "POST", b.URL()+"/rest/outrigger/1.0/backup/confirm", ""); status != http.StatusNoContent {
		t.Errorf("confirming: %d", status)
	}
	becomes(t, b, `outrigger_restore_waiting`, 0)
	becomes(t, b, `outrigger_attention{kind="restore"}`, -1)

	disk.Break(t) // now nothing is saved any more, and the figures say so
	if err := sendPlain(a, "refused"); err == nil {
		t.Error("mail was taken on a disk that is read-only")
	}
	becomes(t, a, `outrigger_ready`, 0)
	if v, why := named(figures(t, a), "outrigger_not_ready_info"); v != 1 || !strings.Contains(why, "is read-only") {
		t.Errorf("why it is not ready: %s", why)
	}
	waitReady(t, a, http.StatusServiceUnavailable, "is read-only")
	_ = a.Stop(t.Context())
}

// All figures of a server have a HELP text and a name as Prometheus wants it.
func TestMetricsAreClean(t *testing.T) {
	t.Parallel()
	a := start(t, withPublicMetrics(withChat(t)))
	_, page := get(t, a.URL()+"/metrics")
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for line := range strings.Lines(page) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ = strings.Cut(name, " ")
			if !strings.Contains(page, "# HELP "+name+" ") {
				t.Errorf("%s has no HELP", name)
			}
		}
	}
}

// A living node shows the nodes that are gone, and how much mail waits there.
func TestMetricsOfOtherNodes(t *testing.T) {
	t.Parallel()
	url := secret.New(dbtest.PostgresURL(t, migrations()...))
	node := func(id string) *App {
		cfg := withPublicMetrics(settings(t))
		cfg.NodeID, cfg.DatabaseURL, cfg.Cluster.Enabled = id, url, true
		cfg.SecretKey = secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
		return start(t, cfg)
	}
	one, two := node("one"), node("two")
	for range 10 {
		if err := sendMail(one, "waits"); err != nil {
			t.Fatal(err)
		}
	}
	becomes(t, two, `outrigger_cluster_nodes{state="ACTIVE"}`, 2)
	becomes(t, one, `outrigger_mail_queue_messages{node="one"}`, 10)
	if now := figures(t, two); now["outrigger_db_size_bytes"] < 1<<20 || now["outrigger_db_commit_seconds_count"] <= 0 {
		t.Errorf("a database of %v bytes, %v commits", now["outrigger_db_size_bytes"], now["outrigger_db_commit_seconds_count"])
	}
	if v, _ := named(figures(t, two), "outrigger_mail_queue_offline_messages"); v != -1 {
		t.Errorf("with all nodes there, %v messages are on nodes that are gone", v)
	}
	if err := one.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	becomes(t, two, `outrigger_cluster_nodes{state="OFFLINE"}`, 1)
	becomes(t, two, `outrigger_mail_queue_offline_messages{node="one"}`, 10)
}

// Without its database a server still says that it is not ready, and why.
func TestMetricsWithoutADatabase(t *testing.T) {
	t.Parallel()
	cfg := withPublicMetrics(settings(t))
	a := startLoosely(t, cfg)
	eventually(t, func() bool { return os.RemoveAll(cfg.DataDir) == nil }) // the server may make a file in it meanwhile
	eventually(t, func() bool {
		now := figures(t, a)
		v, why := named(now, "outrigger_not_ready_info")
		return now["outrigger_ready"] == 0 && v == 1 && strings.Contains(why, "was changed under the running server")
	})
}
