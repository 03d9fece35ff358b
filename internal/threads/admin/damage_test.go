package admin_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"outrigger/internal/threads"
)

// Files that are damaged are loaded only when that was accepted, and then every
// result says what was wrong with them.
func TestDamageIsNeverSilent(t *testing.T) {
	const (
		record = `{"issueId":1,"commentId":11,"parentCommentId":10}`
		page   = `{"offset":0,"data":[` + record + `],"hasMore":true,"totalCount":123456}`
	)
	swapped := "entityType,serverId,cloudId\njira:issue,901,1\njira:comment,510,10\njira:comment,511,11\n"
	for name, c := range map[string]struct{ hierarchy, mappings, says string }{
		"a page":                  {page, mappings, "1 of 123,456: this is one page"},
		"a page that is not last": {strings.Replace(page, "123456", "1", 1), mappings, "The hierarchy file has as many records as the export (1), and yet its last page says that there are more."},
		"cut between records":     {"[" + record + ",", mappings, "The hierarchy file is cut off: it ends after 1 record."},
		"cut before the end":      {"[" + record, mappings, "The hierarchy file is cut off"},
		"records in a row":        {record + "\n" + record + "\n", mappings, "2 records of the hierarchy file are in no array"},
		"entries that are none":   {`[1,2,3]`, mappings, "3 entries of the hierarchy file could not be read"},
		"one that is none":        {"[" + record + ",7]", mappings, "1 entry of the hierarchy file could not be read"},
		"an empty array":          {`[]`, mappings, "The hierarchy file has no records"},
		"white space":             {" \n", mappings, "The hierarchy file has no records: it is empty"},
		"a gzip file that is cut": {cutGzip("[" + record + "]"), mappings, "The hierarchy file is cut off"},
		"a CSV cut in its line":   {"[" + record + "]", mappings[:len(mappings)-1], "The last line of the id mappings file has no line end, so it may be cut off and was not used; 8 mappings stand before it."},
		"a CSV without rows":      {"[" + record + "]", "entityType,serverId,cloudId\n", "The id mappings file has no mappings"},
		"a CSV without a header":  {"[" + record + "]", mappings[28:], "The id mappings file has no header"},
		"a line that is none":     {"[" + record + "]", mappings + "jira:comment,x,1\n", "1 line of the id mappings file could not be read"},
		"swapped ids":             {"[" + record + "]", swapped, "None of the records (1) has all its mappings"},
	} {
		t.Run(name, func(t *testing.T) {
			r := onSQLite(t, nil).work()
			r.send(threads.HierarchyFile, c.hierarchy)
			r.send(threads.MappingsFile, c.mappings)
			r.load(202, "", r.sent()) // there is no preview yet
			if s := r.until(threads.PhaseEmpty); !strings.Contains(s.Message, c.says) {
				t.Errorf("why it was not loaded: %q", s.Message)
			}
			if got := r.do(200, "GET", "/preview"); !strings.Contains(got, c.says) {
				t.Errorf("the preview: %s", got)
			}
			if got := r.message(r.load(409, "", r.previewed())); !strings.Contains(got, c.says) || !strings.Contains(got, "acceptIncomplete=true") {
				t.Errorf("the refusal: %s", got)
			}
			r.load(202, "?acceptIncomplete=true", r.previewed())
			for _, phase := range []string{"READY", "COMPLETED"} {
				if phase == "COMPLETED" {
					r.do(202, "POST", "/start")
					r.until(threads.PhaseCompleted)
				}
				if got := r.do(200, "GET", "/status"); !strings.Contains(got, c.says) || !strings.Contains(got, phase) {
					t.Errorf("the status: %s", got)
				}
			}
			r.verifies(c.says)
			r.has(r.open("GET", movePath, "root"), 200, c.says, `<span class="badge warn">completed</span>`)
			r.has(r.open("GET", movePath+"/verify", "root"), 200, c.says, `<span class="badge warn">incomplete data</span>`)
		})
	}
}

// cutGzip is a text in a gzip file whose last byte is missing.
func cutGzip(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a buffer takes everything
	_ = w.Close()
	return b.String()[:b.Len()-1]
}

// Columns that are not named as the report names them are refused, with what
// was expected.
func TestRenamedColumnsAreRefused(t *testing.T) {
	r := onSQLite(t, nil).work()
	for _, header := range []string{"entityType,oldId,newId", "entityType,cloud,server", "entityType,serverId,serverId", "serverId,cloudId,what"} {
		r.send(threads.HierarchyFile, hierarchy)
		r.send(threads.MappingsFile, header+"\n"+mappings[28:])
		r.eventually(func() bool { return r.ask("GET", migrationPath+"/preview", "root", "").Code != 202 })
		want := `The first line of the id mappings file is "` + header + `"; expected the columns entityType, serverId and cloudId.`
		if got := r.message(r.do(400, "GET", "/preview")); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", header, got)
		}
		r.load(400, "?acceptIncomplete=true", r.sent())
		r.do(202, "POST", "/reset")
	}
}
