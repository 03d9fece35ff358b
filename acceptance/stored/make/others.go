package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/smtp"
	"net/url"
	"os"
	"strconv"

	"outrigger/acceptance/stored"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// mail are messages that the smarthost refused, and some that it is away for.
func (f *filler) mail(ctx context.Context) {
	send := func(mode smarthost.FaultMode, n int, what string, size, errors int) {
		f.w.Mail.SetFaultMode(mode)
		for i := range n {
			text := fmt.Sprintf("From: jira@example.com\r\nTo: ada@example.org\r\nSubject: %s %d\r\n"+
				"Message-ID: <%s-%d@example.com>\r\n\r\nSomething was done.\r\n", what, i, what, i)
			to := []string{"ada@example.org", "bob@example.org"}
			check(smtp.SendMail(f.p.Settings.MailListen, nil, "jira@example.com", to, []byte(text)))
		}
		await("the mail that is "+what+" is not", func() bool {
			var s struct{ Size, ErrorSize int }
			check(f.p.Ask(ctx, "GET", "/rest/mailqueue/1.0/status", nil, &s))
			return s.Size == size && s.ErrorSize == errors
		})
	}
	send(smarthost.Accepts, 2, "delivered", 0, 0)
	send(smarthost.Refuses, stored.Refused, "refused", 0, stored.Refused)
	send(smarthost.Away, stored.Queued, "waiting", stored.Queued, stored.Refused)
}

// relations is how many the migration has: enough to be stopped in the middle.
const relations = 4000

// threads is a source, a migration that was stopped, and an upload half-way.
func (f *filler) threads(ctx context.Context) {
	const api = "/rest/threaded-comments/1.0"
	records, mappings := threadstest.Many(relations, 4)
	few, fewMappings := threadstest.Many(20, 4)
	f.post(ctx, api+"/source/hierarchy", json.RawMessage(threadstest.Hierarchy(few)), nil)
	c := f.p.Threads()
	must(c.ImportMappings(ctx, "https://example.atlassian.net", temporary(threadstest.CSV(fewMappings)), nil))
	hierarchy := threadstest.Hierarchy(records)
	var sent threads.Drafts
	sent.Hierarchy.ID = must(c.Upload(ctx, "", threads.HierarchyFile, temporary(hierarchy), false, nil)).ID
	sent.Mappings.ID = must(c.Upload(ctx, "", threads.MappingsFile, temporary(threadstest.CSV(mappings)), false, nil)).ID
	must(c.Operate(ctx, threads.OpUpload, threads.Wish{Drafts: sent}))
	if st := must(c.Follow(ctx, nil, threads.PhaseLoading)); st.Phase != threads.PhaseReady {
		check(fmt.Errorf("the files are not loaded: %+v", st))
	}
	f.post(ctx, api+"/migration/start", nil, nil)
	f.post(ctx, api+"/migration/stop", nil, nil)
	f.halfUpload(ctx, "http://"+f.p.Addr(), api+"/migration/uploads", []byte(hierarchy))
}

// temporary is a file with content, which has no name.
func temporary(content string) *os.File {
	file := must(os.CreateTemp("", "outrigger-stored-*"))
	must(file.WriteString(content))
	check(os.Remove(file.Name()))
	return file
}

// halfUpload sends half of a backup by tus.
func (f *filler) halfUpload(ctx context.Context, base, path string, content []byte) {
	tus := func(method, path string, body []byte, header ...string) (location string) {
		r := must(http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body)))
		r.SetBasicAuth("admin", loadtest.AdminPassword)
		r.Header.Set("Tus-Resumable", "1.0.0")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp := must(http.DefaultClient.Do(r))
		resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			check(fmt.Errorf("%s %s: %s", method, path, resp.Status))
		}
		return must(url.Parse(resp.Header.Get("Location"))).Path
	}
	location := tus(http.MethodPost, path, nil, "Upload-Length", strconv.Itoa(len(content)),
		"Upload-Metadata", "kind "+base64.StdEncoding.EncodeToString([]byte("backup")))
	tus(http.MethodPatch, location, content[:len(content)/2], "Upload-Offset", "0", "Content-Type", "application/offset+octet-stream")
}
