package format

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// readHierarchy reads everything, through a window that is as small as it may be
// or as big as usual.
func readHierarchy(in io.Reader, window int) ([]threads.Record, threads.HierarchyReading, error) {
	d := newHierarchyDecoder(in, window)
	var records []threads.Record
	for {
		r, err := d.Next()
		if errors.Is(err, io.EOF) {
			return records, d.Reading(), nil
		}
		if err != nil {
			return records, d.Reading(), err
		}
		records = append(records, r)
	}
}

const smallWindow = 4 * excerptSize

func TestHierarchy(t *testing.T) {
	reading := func(change func(*threads.HierarchyReading)) threads.HierarchyReading {
		var r threads.HierarchyReading
		change(&r)
		return r
	}
	records := func(n int64) threads.HierarchyReading { return threads.HierarchyReading{Records: n} }
	for name, tc := range map[string]struct {
		in      string
		records []threads.Record
		want    threads.HierarchyReading
	}{
		"an array": {
			`[{"issueId":10001,"commentId":10502,"parentCommentId":10501},{"issueId":10001,"commentId":10503,"parentCommentId":10502}]`,
			[]threads.Record{{IssueID: 10001, CommentID: 10502, ParentCommentID: 10501}, {IssueID: 10001, CommentID: 10503, ParentCommentID: 10502}}, records(2),
		},
		"nothing in it":  {` [ ] `, nil, records(0)},
		"an empty file":  {``, nil, reading(func(r *threads.HierarchyReading) { r.Truncated = true })},
		"pretty-printed": {"[\r\n  {\r\n    \"issueId\": 1,\r\n    \"commentId\": 2,\r\n    \"parentCommentId\": 3\r\n  }\r\n]\r\n", []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}}, records(1)},
		"another order, names in other case, more members, texts": {
			`[{"ParentCommentId":" 3 ","issueid":"1","x":{"y":[1,{"issueId":9}],"z":"}\"]"},"COMMENTID":"2"}]`,
			[]threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}}, records(1),
		},
		"escapes":                 {`[{"issue\u0049d":"\u0031","commentId":2,"parentCommentId":"\u002d3"}]`, []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: -3}}, records(1)},
		"a member given twice":    {`[{"issueId":9,"issueId":1,"commentId":2,"parentCommentId":3}]`, []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}}, records(1)},
		"ids beyond 2^53, exact":  {`[{"issueId":9007199254740993,"commentId":9223372036854775807,"parentCommentId":-9223372036854775808}]`, []threads.Record{{IssueID: 9007199254740993, CommentID: 9223372036854775807, ParentCommentID: -9223372036854775808}}, records(1)},
		"records in a row":        {"{\"issueId\":1,\"commentId\":2,\"parentCommentId\":3}\n{\"issueId\":1,\"commentId\":3,\"parentCommentId\":2}\n", []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}, {IssueID: 1, CommentID: 3, ParentCommentID: 2}}, threads.HierarchyReading{Records: 2, Loose: 2}},
		"arrays in a row":         {`[{"issueId":1,"commentId":2,"parentCommentId":3}][]`, []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}}, records(1)},
		"comments without parent": {`[{"issueId":1,"commentId":2,"parentCommentId":null},{"issueId":1,"commentId":4}]`, nil, reading(func(r *threads.HierarchyReading) { r.Roots = 2 })},
		"a page": {
			`{"offset":0,"data":[{"issueId":1,"commentId":2,"parentCommentId":3}],"hasMore":true,"totalCount":123456}`,
			[]threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}},
			threads.HierarchyReading{Records: 1, Pages: 1, PageRecords: 1, HasMore: true, TotalCount: 123456, HasOffset: true},
		},
		"pages in a row": {
			`{"hasMore":true,"totalCount":2,"data":[{"issueId":1,"commentId":2,"parentCommentId":3}]}` + "\n" +
				`{"offset":1,"data":[{"issueId":1,"commentId":3,"parentCommentId":2}],"hasMore":false,"totalCount":2}`,
			[]threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}, {IssueID: 1, CommentID: 3, ParentCommentID: 2}},
			threads.HierarchyReading{Records: 2, Pages: 2, PageRecords: 2, TotalCount: 2, Offset: 1, HasOffset: true},
		},
		"pages in an array": {
			`[{"data":[],"hasMore":false,"totalCount":0},{"data":[{"issueId":1,"commentId":3,"parentCommentId":2}]}]`,
			[]threads.Record{{IssueID: 1, CommentID: 3, ParentCommentID: 2}}, threads.HierarchyReading{Records: 1, Pages: 2, PageRecords: 1},
		},
		"what is no record": {
			"[1,\n\"x\",null,[{}],\n{\"issueId\":1,\"commentId\":2,\"parentCommentId\":3}]", []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}},
			reading(func(r *threads.HierarchyReading) {
				r.Records, r.Unreadable = 1, 4
				r.Lines = []threads.Unreadable{
					{Line: 1, Text: "1,", Reason: "This is not a record."}, {Line: 2, Text: `"x",null,[{}],`, Reason: "This is not a record."},
					{Line: 2, Text: `null,[{}],`, Reason: "This is not a record."}, {Line: 2, Text: `[{}],`, Reason: "This is not a record."},
				}
			}),
		},
		"wrong ids": {
			`[{"issueId":1.5,"commentId":2,"parentCommentId":3},
{"issueId":1,"commentId":9223372036854775808,"parentCommentId":3},
{"issueId":1,"commentId":2,"parentCommentId":"x"},
{"issueId":1,"commentId":2,"parentCommentId":{}},
{"commentId":2,"parentCommentId":3},
{}]`, nil,
			reading(func(r *threads.HierarchyReading) {
				r.Unreadable = 6
				r.Lines = []threads.Unreadable{
					{Line: 1, Text: `{"issueId":1.5,"commentId":2,"parentCommentId":3},`, Reason: "issueId is not a whole number."},
					{Line: 2, Text: `{"issueId":1,"commentId":9223372036854775808,"parentCommentId":3},`, Reason: "commentId is beyond 64 bits."},
					{Line: 3, Text: `{"issueId":1,"commentId":2,"parentCommentId":"x"},`, Reason: "parentCommentId is not a whole number."},
					{Line: 4, Text: `{"issueId":1,"commentId":2,"parentCommentId":{}},`, Reason: "parentCommentId is not a whole number."},
					{Line: 5, Text: `{"commentId":2,"parentCommentId":3},`, Reason: "It has no issueId."},
					{Line: 6, Text: `{}]`, Reason: "It has no issueId and no commentId."},
				}
			}),
		},
		"broken JSON in the middle": {
			"[{\"issueId\":1,\"commentId\":2,\"parentCommentId\":3},\n{\"issueId\":1,,\"commentId\" 3},\n{\"issueId\":1,\"commentId\":4,\"parentCommentId\":3}]",
			[]threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}, {IssueID: 1, CommentID: 4, ParentCommentID: 3}},
			reading(func(r *threads.HierarchyReading) {
				r.Records, r.Unreadable = 2, 1
				r.Lines = []threads.Unreadable{{Line: 2, Text: `{"issueId":1,,"commentId" 3},`, Reason: "This is not JSON."}}
			}),
		},
		"broken JSON in a page": {
			`{"data":[{"issueId":1,"commentId":2,"parentCommentId":3},{bad},{"issueId":1,"commentId":4,"parentCommentId":3}],"hasMore":true}`,
			[]threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}, {IssueID: 1, CommentID: 4, ParentCommentID: 3}},
			reading(func(r *threads.HierarchyReading) {
				r.Records, r.Unreadable, r.Pages, r.PageRecords, r.HasMore = 2, 1, 1, 3, true
				r.Lines = []threads.Unreadable{{Line: 1, Text: `{bad},{"issueId":1,"commentId":4,"parentCommentId":3}],"hasMore":true}`, Reason: "A member has no name in quotes."}}
			}),
		},
		"cut off in a record":                 {`[{"issueId":1,"commentId":2,"parentCommentId":3},{"issueId":1,"comm`, []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}}, reading(func(r *threads.HierarchyReading) { r.Records, r.Truncated = 1, true })},
		"cut off in a number":                 {`[{"issueId":1,"commentId":2,"parentCommentId":3`, nil, reading(func(r *threads.HierarchyReading) { r.Truncated = true })},
		"cut off before the end of the array": {`[{"issueId":1,"commentId":2,"parentCommentId":3}`, []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}}, reading(func(r *threads.HierarchyReading) { r.Records, r.Truncated = 1, true })},
		"cut off in a page": {`{"totalCount":7,"data":[{"issueId":1,"commentId":2,"parentCommentId":3}`, []threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}}, threads.HierarchyReading{
			Reading: threads.Reading{Truncated: true}, Records: 1, Pages: 1, PageRecords: 1, TotalCount: 7,
		}},
		"something behind the end": {"[]\nbye", nil, reading(func(r *threads.HierarchyReading) {
			r.Unreadable, r.Lines = 1, []threads.Unreadable{{Line: 2, Text: "bye", Reason: "This is not a record."}}
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, window := range []int{smallWindow, sourceSize} {
				got, reading, err := readHierarchy(strings.NewReader(tc.in), window)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.records, got); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(tc.want, reading); diff != "" {
					t.Errorf("window %d: %s", window, diff)
				}
			}
		})
	}
}

func TestWhatIsNoHierarchy(t *testing.T) {
	for in, want := range map[string]string{
		"<!doctype html><title>Log in</title>":           "web page",
		"entityType,serverId,cloudId\njira:issue,1,2\n":  "id mappings CSV",
		"\"Entity type\";\"Server id\";\"Cloud id\"\r\n": "id mappings CSV",
		"Dear admin,":                            `begins with "Dear admin,"`,
		`{"10001":"ABC-1","10002":"ABC-2"}`:      "issue mapping",
		`{"ABC-1":10001}`:                        "issue mapping",
		`[{"issueId":10001,"issueKey":"ABC-1"}]`: "issue mapping",
		`[{"id":"10001","key":"ABC-1"},{"id":"10002","key":"A-2"}]`: "issue mapping",
	} {
		_, _, err := readHierarchy(strings.NewReader(in), sourceSize)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", in, err, want)
		}
	}
}

// A reader that breaks is an error and never the end of the file.
func TestHierarchyReaderFails(t *testing.T) {
	broken := errors.New("the disk is gone")
	in := io.MultiReader(strings.NewReader(`[{"issueId":1,"commentId":2,"parentCommentId":3},`), iotest.ErrReader(broken))
	records, reading, err := readHierarchy(in, sourceSize)
	if !errors.Is(err, broken) || len(records) != 1 || reading.Truncated {
		t.Error(records, reading, err)
	}
}

func TestPartialPages(t *testing.T) {
	for _, tc := range []struct {
		r    threads.HierarchyReading
		want bool
	}{
		{threads.HierarchyReading{Records: 3}, false},
		{threads.HierarchyReading{Records: 3, Pages: 1, PageRecords: 3, TotalCount: 3}, false},
		{threads.HierarchyReading{Records: 3, Pages: 1, PageRecords: 3, TotalCount: 3, HasMore: true}, true},
		{threads.HierarchyReading{Records: 3, Pages: 2, PageRecords: 2, TotalCount: 3}, true},
		{threads.HierarchyReading{Records: 4, Pages: 2, PageRecords: 4, TotalCount: 4}, true}, // a page given twice
	} {
		if got := tc.r.Partial(3); got != tc.want {
			t.Errorf("%+v: %t", tc.r, got)
		}
	}
}

// Only the first MaxListed are listed; all are counted.
func TestUnreadableIsBounded(t *testing.T) {
	_, reading, err := readHierarchy(strings.NewReader("["+strings.Repeat("1,\n", 1000)+"2]"), sourceSize)
	if err != nil || reading.Unreadable != 1001 || len(reading.Lines) != threads.MaxListed || reading.Lines[99].Line != 100 {
		t.Error(reading.Unreadable, len(reading.Lines), err)
	}
}
