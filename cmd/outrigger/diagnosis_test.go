package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"testing"
)

// A diagnosis of a server has the lines that it has logged.
func TestDiagnosisHasTheLog(t *testing.T) {
	t.Setenv("OUTRIGGER_MAIL_LISTEN", "off")
	t.Setenv("OUTRIGGER_ADMIN_PASSWORD", "correct horse battery")
	p := begin(t, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"))
	var line struct{ Msg, URL string }
	for line.Msg != "ready" && p.lines.Scan() {
		if err := json.Unmarshal(p.lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, line.URL+"/rest/outrigger/1.0/diagnosis", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", "correct horse battery")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %.500s %v", resp.StatusCode, body, err)
	}
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	file, err := archive.Open("log.txt")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(file); err != nil || !bytes.Contains(text, []byte(`"msg":"ready"`)) {
		t.Errorf("the log is %s, %v", text, err)
	}
	if rest, code := p.end(); code != exitDone {
		t.Errorf("it ended with %d and said\n%s", code, rest)
	}
}
