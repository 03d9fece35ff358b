package format

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

func readMappings(in io.Reader) ([]threads.IDMapping, threads.MappingReading, error) {
	d := NewMappingDecoder(in)
	var list []threads.IDMapping
	for {
		m, err := d.Next()
		if errors.Is(err, io.EOF) {
			return list, d.Reading(), nil
		}
		if err != nil {
			return list, d.Reading(), err
		}
		list = append(list, m)
	}
}

func TestMappings(t *testing.T) {
	two := []threads.IDMapping{{EntityType: threads.EntityIssue, ServerID: 17499, CloudID: 10542}, {EntityType: threads.EntityComment, ServerID: 16412, CloudID: 11782}}
	twoRead := threads.MappingReading{Rows: 2, Comments: 1, Issues: 1}
	with := func(r threads.MappingReading, change func(*threads.MappingReading)) threads.MappingReading {
		change(&r)
		return r
	}
	for name, tc := range map[string]struct {
		in   string
		rows []threads.IDMapping
		want threads.MappingReading
	}{
		"as the report is":     {"entityType,serverId,cloudId\njira:issue,17499,10542\njira:comment,16412,11782\n", two, twoRead},
		"semicolons and CRLF":  {"entityType;serverId;cloudId\r\njira:issue;17499;10542\r\njira:comment;16412;11782\r\n", two, twoRead},
		"tabs":                 {"entityType\tserverId\tcloudId\njira:issue\t17499\t10542\njira:comment\t16412\t11782\n", two, twoRead},
		"carriage returns":     {"entityType,serverId,cloudId\rjira:issue,17499,10542\rjira:comment,16412,11782\r", two, twoRead},
		"quotes":               {"\"entityType\",\"serverId\",\"cloudId\"\n\"jira:issue\",\"17499\",\"10542\"\n \"jira:comment\" , 16412 , 11782 \n", two, twoRead},
		"a spreadsheet's line": {"sep=;\r\nentityType;serverId;cloudId\r\njira:issue;17499;10542\r\njira:comment;16412;11782\r\n", two, twoRead},
		"columns in another order, more of them, other case": {
			"Cloud ID,x,Entity_Type,serverid\n10542,,jira:issue,17499\n11782,\"a,b\"\"c\",jira:comment,16412\n", two, twoRead,
		},
		"blank lines":   {"\n\nentityType,serverId,cloudId\n\njira:issue,17499,10542\n\njira:comment,16412,11782\n\n", two, twoRead},
		"no rows":       {"entityType,serverId,cloudId\n", nil, threads.MappingReading{}},
		"an empty file": {"", nil, threads.MappingReading{}},
		"other types":   {"entityType,serverId,cloudId\njira/classic:project,10200,10037\n", []threads.IDMapping{{EntityType: "jira/classic:project", ServerID: 10200, CloudID: 10037}}, threads.MappingReading{Rows: 1}},
		"other types, whose ids are of any kind": {
			"entityType,serverId,cloudId\njira/classic:user,JIRAUSER10100,5b10ac8d82e05b22cc7d4ef5\njira:issue,17499,10542\njira:attachment,7,\njira:comment,16412,11782\njira/classic:user,,\n",
			two, with(twoRead, func(r *threads.MappingReading) { r.Rows = 5 }),
		},
		"beyond 2^53":      {"entityType,serverId,cloudId\njira:issue,9223372036854775807,9007199254740993\n", []threads.IDMapping{{EntityType: threads.EntityIssue, ServerID: 9223372036854775807, CloudID: 9007199254740993}}, threads.MappingReading{Rows: 1, Issues: 1}},
		"no end of a line": {"entityType,serverId,cloudId\njira:issue,17499,10542\njira:comment,16412,117", two[:1], threads.MappingReading{Reading: threads.Reading{Truncated: true}, Rows: 1, Issues: 1}},
		"no header":        {"jira:issue,17499,10542\njira:comment,16412,11782\n", two, with(twoRead, func(r *threads.MappingReading) { r.NoHeader = true })},
		"lines that are none": {
			"entityType,serverId,cloudId\njira:issue,17499,10542\njira:issue,1\n,1,2\njira:issue,1.0E+5,2\njira:issue,1,9223372036854775808\n\"jira:issue,1,2\n\"jira:issue\"x,1,2\n" +
				strings.Repeat("x", maxLine) + "\njira:comment,16412,11782\n",
			two,
			with(twoRead, func(r *threads.MappingReading) {
				r.Unreadable = 7
				r.Lines = []threads.Unreadable{
					{Line: 3, Text: "jira:issue,1", Reason: "It has too few columns."}, {Line: 4, Text: ",1,2", Reason: "The entity type is empty."},
					{Line: 5, Text: "jira:issue,1.0E+5,2", Reason: "The server id is not a whole number."}, {Line: 6, Text: "jira:issue,1,9223372036854775808", Reason: "The cloud id is beyond 64 bits."},
					{Line: 7, Text: `"jira:issue,1,2`, Reason: "A quote is not closed."}, {Line: 8, Text: `"jira:issue"x,1,2`, Reason: "A quote is not closed."},
					{Line: 9, Text: strings.Repeat("x", excerptSize), Reason: "The line is too long."},
				}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			rows, reading, err := readMappings(strings.NewReader(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.rows, rows); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.want, reading); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsNoMappings(t *testing.T) {
	for in, want := range map[string]string{
		`[{"issueId":1}]`:                         "is JSON",
		`{"data":[]}`:                             "is JSON",
		"\n<html>":                                "web page",
		"<!doctype html>.":                        "web page",
		"kind,old,new\njira:issue,17499,10542\n":  `is "kind,old,new"; expected the columns entityType, serverId and cloudId`,
		"entityType;serverId;server id;cloudId\n": "expected the columns",
	} {
		_, _, err := readMappings(strings.NewReader(in))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", in, err, want)
		}
	}
}

// What encoding/csv reads as rows of a report, the decoder reads too; nothing
// makes it panic or run for ever.
func FuzzMappings(f *testing.F) {
	for _, seed := range []string{
		"entityType,serverId,cloudId\njira:issue,17499,10542\njira:comment,16412,11782\n", "cloudId;entityType;serverId\r\n1;\"a\"\"b\";2\r\n",
		"sep=\t\nx\n", "\"\n\"\r\r,", "entityType,serverId,cloudId\na,1,2", "entityType,serverId,cloudId\na,-1,9223372036854775808\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		rows, reading, err := readMappings(bytes.NewReader(in))
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Fatal(err)
		}
		if reading.Rows < int64(len(rows)) || reading.Rows+reading.Unreadable > int64(bytes.Count(in, []byte("\n"))+bytes.Count(in, []byte("\r"))+1) {
			t.Fatal(reading)
		}
		// A row is an entity type, and two ids.
		file := threads.MappingHeader + "\n" + string(in)
		want, ok := byLibrary(file)
		if !ok {
			return
		}
		got, _, err := readMappings(strings.NewReader(file))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

// byLibrary reads a file with encoding/csv; false where it is not of a form
// that both take: one row a line, each with its end.
func byLibrary(file string) (rows []threads.IDMapping, ok bool) {
	if !strings.HasSuffix(file, "\n") || strings.ContainsAny(file, "\r\t\v\f\u0085\u00a0\u2028\u2029\u3000\x00") || strings.Contains(file, "sep=") {
		return nil, false
	}
	r := csv.NewReader(strings.NewReader(file))
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		return nil, false
	}
	for _, row := range all[1:] {
		for i := range row {
			if strings.ContainsAny(row[i], "\n") || strings.ToValidUTF8(row[i], "") != row[i] {
				return nil, false
			}
			row[i] = strings.TrimSpace(row[i])
		}
		if len(row) < 3 || len(row) > maxColumns || row[0] == "" {
			continue
		}
		server, errServer := strconv.ParseInt(row[1], 10, 64)
		cloud, errCloud := strconv.ParseInt(row[2], 10, 64)
		if errServer == nil && errCloud == nil {
			rows = append(rows, threads.IDMapping{EntityType: row[0], ServerID: server, CloudID: cloud})
		}
	}
	return rows, true
}

func BenchmarkMappings(b *testing.B) {
	var file bytes.Buffer
	file.WriteString(threads.MappingHeader + "\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&file, "jira:comment,%d,%d\n", 100000+i, 5000000+i)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		d := NewMappingDecoder(bytes.NewReader(file.Bytes()))
		for {
			if _, err := d.Next(); err != nil {
				break
			}
		}
		if d.Reading().Rows != 1_000_000 {
			b.Fatal(d.Reading())
		}
	}
}
