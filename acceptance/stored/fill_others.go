package stored

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/smtp"
	"net/url"
	"os"
	"strconv"

	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/threads"
	"outrigger/internal/threads/client"
	"outrigger/internal/threads/threadstest"
)

// Refused and Queued are how many messages are in the error queue and in the queue.
const (
	Refused = 3
	Queued  = 5
)

// mail are messages that the smarthost refused, and some that it is away for.
func (f *filler) mail(ctx context.Context) error {
	send := func(n int, what string) error {
		for i := range n {
			text := fmt.Sprintf("From: jira@example.com\r\nTo: ada@example.org\r\nSubject: %s %d\r\n"+
				"Message-ID: <%s-%d@example.com>\r\n\r\nSomething was done.\r\n", what, i, what, i)
			to := []string{"ada@example.org", "bob@example.org"}
			if err := smtp.SendMail(f.p.Settings.MailListen, nil, "jira@example.com", to, []byte(text)); err != nil {
				return err
			}
		}
		return nil
	}
	size := func(size, errors int) func() (bool, error) {
		return func() (bool, error) {
			var s struct{ Size, ErrorSize int }
			err := f.p.Ask(ctx, "GET", "/rest/mailqueue/1.0/status", nil, &s)
			return s.Size == size && s.ErrorSize == errors, err
		}
	}
	f.w.Mail.SetFaultMode(smarthost.Accepts)
	if err := send(2, "delivered"); err != nil {
		return err
	}
	if err := Await(ctx, "the mail is not delivered", size(0, 0)); err != nil {
		return err
	}
	f.w.Mail.SetFaultMode(smarthost.Refuses)
	if err := send(Refused, "refused"); err != nil {
		return err
	}
	if err := Await(ctx, "the mail is not in the error queue", size(0, Refused)); err != nil {
		return err
	}
	f.w.Mail.SetFaultMode(smarthost.Away)
	if err := send(Queued, "waiting"); err != nil {
		return err
	}
	return Await(ctx, "the mail does not wait", size(Queued, Refused))
}

// relations is how many the migration has: enough to be stopped in the middle.
const relations = 4000

// threads is a source, a migration that was stopped, and an upload half-way.
func (f *filler) threads(ctx context.Context) error {
	records, mappings := threadstest.Many(relations, 4)
	hierarchy, csv := threadstest.Hierarchy(records), threadstest.CSV(mappings)
	few, fewMappings := threadstest.Many(20, 4)
	if err := f.post(ctx, "/rest/threaded-comments/1.0/source/hierarchy", json.RawMessage(threadstest.Hierarchy(few)), nil); err != nil {
		return err
	}
	ids, err := temporary(threadstest.CSV(fewMappings))
	if err != nil {
		return err
	}
	defer ids.Close()
	c := f.p.Threads()
	if _, err := c.ImportMappings(ctx, "https://example.atlassian.net", ids, nil); err != nil {
		return err
	}
	var sent threads.Drafts
	if sent.Hierarchy.ID, err = upload(ctx, c, threads.HierarchyFile, hierarchy); err != nil {
		return err
	}
	if sent.Mappings.ID, err = upload(ctx, c, threads.MappingsFile, csv); err != nil {
		return err
	}
	if _, err := c.Operate(ctx, threads.OpUpload, threads.Wish{Drafts: sent}); err != nil {
		return err
	}
	if st, err := c.Follow(ctx, nil, threads.PhaseLoading); err != nil || st.Phase != threads.PhaseReady {
		return fmt.Errorf("the files are not loaded: %+v, %w", st, err)
	}
	if err := f.post(ctx, "/rest/threaded-comments/1.0/migration/start", nil, nil); err != nil {
		return err
	}
	if err := f.post(ctx, "/rest/threaded-comments/1.0/migration/stop", nil, nil); err != nil {
		return err
	}
	return f.halfUpload(ctx, []byte(hierarchy))
}

func upload(ctx context.Context, c *client.Client, kind, content string) (id int64, err error) {
	file, err := temporary(content)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	draft, err := c.Upload(ctx, "", kind, file, false, nil)
	return draft.ID, err
}

// temporary is a file with content, which is gone when it is closed.
func temporary(content string) (*os.File, error) {
	file, err := os.CreateTemp("", "outrigger-stored-*")
	if err != nil {
		return nil, err
	}
	_, err = file.WriteString(content)
	return file, errors.Join(err, os.Remove(file.Name()))
}

// halfUpload sends half of a backup by tus.
func (f *filler) halfUpload(ctx context.Context, content []byte) error {
	tus := func(method, path string, header map[string]string, body []byte) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.SetBasicAuth("admin", loadtest.AdminPassword)
		r.Header.Set("Tus-Resumable", "1.0.0")
		for name, value := range header {
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			return nil, fmt.Errorf("%s %s: %s", method, path, resp.Status)
		}
		return resp, nil
	}
	begun, err := tus("POST", "http://"+f.p.Addr()+"/rest/threaded-comments/1.0/migration/uploads", map[string]string{
		"Upload-Length": strconv.Itoa(len(content)), "Upload-Metadata": "kind " + base64.StdEncoding.EncodeToString([]byte("backup")),
	}, nil)
	if err != nil {
		return err
	}
	location, err := url.Parse(begun.Header.Get("Location"))
	if err != nil || location.Path == "" {
		return errors.Join(errors.New("no location of the upload"), err)
	}
	_, err = tus("PATCH", "http://"+f.p.Addr()+location.Path, map[string]string{
		"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream",
	}, content[:len(content)/2])
	return err
}
