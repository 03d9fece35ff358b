package api

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/threads/store"
)

// What is no draft any more is not found, however it ended: a reset, an
// expiry, a load.
func TestNoDraftAnyMore(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		ctx := t.Context()
		write := func(fn func(tx *db.Tx) error) {
			t.Helper()
			if err := s.db.Write(ctx, fn); err != nil {
				t.Fatal(err)
			}
		}
		for _, end := range []struct {
			name string
			by   func(tx *db.Tx, id int64) error
		}{
			{"reset", func(tx *db.Tx, id int64) error { return store.DropUpload(ctx, tx, id) }},
			{"taken", func(tx *db.Tx, id int64) error { return store.TakeUpload(ctx, tx, id) }},
			{"expired", func(tx *db.Tx, id int64) error {
				_, err := tx.Exec(ctx, `UPDATE threads_uploads SET expires_at = $2 WHERE id = $1`, id, db.Micros(tx.Now().Add(-time.Second)))
				return err
			}},
		} {
			url := s.create("hierarchy", "5")
			if res, body := s.do("PATCH", url, "hello", "Upload-Offset", "0"); res.StatusCode != 204 {
				t.Fatal(end.name, res.Status, body)
			}
			u, err := s.store.Draft(ctx, "hierarchy")
			if err != nil {
				t.Fatal(err)
			}
			write(func(tx *db.Tx) error { return end.by(tx, u.ID) })
			for method, headers := range map[string][]string{"HEAD": nil, "PATCH": {"Upload-Offset", "5"}, "DELETE": nil} {
				if res, _ := s.do(method, url, "", headers...); res.StatusCode != 404 {
					t.Errorf("%s after it was %s: %s", method, end.name, res.Status)
				}
			}
			if _, body := s.do("GET", path, ""); body != `{"items":[]}` {
				t.Errorf("after it was %s: %s", end.name, body)
			}
		}
	})
}

// A body with a checksum is stored whole or not at all, and is bounded, since
// it is held in memory.
func TestChecksumOfMuch(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		url := s.create("hierarchy", "10485760")
		sum := func(body []byte) string {
			sum := sha1.Sum(body)
			return "sha1 " + base64.StdEncoding.EncodeToString(sum[:])
		}
		most := bytes.Repeat([]byte("x"), maxChecked)
		if res, body := s.do("PATCH", url, string(most)+"y", "Upload-Offset", "0", "Upload-Checksum", sum(most)); res.StatusCode != 413 || !strings.Contains(body, "8MiB") {
			t.Error(res.Status, body)
		}
		// It breaks off.
		s.raw(url, "Upload-Offset: 0\r\nUpload-Checksum: "+sum(most)+"\r\nContent-Length: 8388608\r\n", most[:5<<20])
		if at := s.offset(url); at != "0" {
			t.Error("a part without its end was stored, up to", at)
		}
		if res, body := s.do("PATCH", url, string(most), "Upload-Offset", "0", "Upload-Checksum", sum(most)); res.StatusCode != 204 {
			t.Error(res.Status, body)
		}
		if at := s.offset(url); at != "8388608" {
			t.Error("stored up to", at)
		}
	})
}

// A body that is longer than its upload, without saying so beforehand: no more
// than the file is stored.
func TestTooMuchUnannounced(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		url := s.create("hierarchy", "1048600")
		r, err := http.NewRequestWithContext(t.Context(), "PATCH", url, io.MultiReader(strings.NewReader(strings.Repeat("x", 1048600)), strings.NewReader("more")))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": "Bearer root", "Tus-Resumable": "1.0.0", "Content-Type": offsetType, "Upload-Offset": "0"} {
			r.Header.Set(name, value)
		}
		res, err := s.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 413 {
			t.Error(res.Status)
		}
		if at := atoi(t, s.offset(url)); at > 1048600 {
			t.Error("stored up to", at)
		}
	})
}

// A creation whose first part breaks off is an upload that goes on where it
// broke off.
func TestCreationBreaksOff(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		whole := bytes.Repeat([]byte("0123456789"), 300_000)
		s.raw(s.server.URL+"/base"+path, fmt.Sprintf("Upload-Length: %d\r\nUpload-Metadata: %s\r\nContent-Length: %[1]d\r\n", len(whole), meta("mappings")), whole[:2_000_000])
		u, err := s.store.Draft(t.Context(), "mappings")
		if err != nil {
			t.Fatal("nothing was begun:", err)
		}
		url := fmt.Sprintf("%s/%d", path, u.ID)
		s.settle(url, 2_000_000)
		if res, body := s.do("PATCH", url, string(whole[2_000_000:]), "Upload-Offset", "2000000"); res.StatusCode != 204 {
			t.Fatal(res.Status, body)
		}
		if s.content("mappings") != string(whole) {
			t.Error("another file is stored")
		}
	})
}

// raw sends a request that breaks off: a PATCH, or to where uploads are a POST.
// It returns when the server has heard of its end.
func (s *site) raw(url, headers string, body []byte) {
	s.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(context.WithoutCancel(s.t.Context()), "tcp", s.server.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	where := strings.TrimPrefix(url, s.server.URL)
	method := "PATCH"
	if strings.HasSuffix(where, path) {
		method = "POST"
	}
	head := method + " " + where + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer root\r\nTus-Resumable: 1.0.0\r\nContent-Type: " + offsetType + "\r\n" + headers + "\r\n"
	if _, err := conn.Write(append([]byte(head), body...)); err != nil {
		s.t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		s.t.Log("the server closed it:", err)
	}
}
