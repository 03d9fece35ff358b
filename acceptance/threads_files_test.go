package acceptance

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/threadstest"
)

// hierarchyOf makes n records of a host's database with their mappings, some
// of them with what goes wrong there: comments that are their own parents,
// cycles, parents in another issue, missing mappings. One id in ten is beyond
// 2^53. Each comes from a seed: a model of them is made by threadstest.
func hierarchyOf(n int, seed uint64) (records []threads.Record, mappings []threads.IDMapping) {
	const perIssue = 25
	rnd := rand.New(rand.NewPCG(seed, 1))
	far := func(id int64) int64 {
		if id%10 == 0 {
			return id + 1<<53
		}
		return id
	}
	mapped := map[threads.IDMapping]bool{}
	mapTo := func(entity string, id int64) {
		key := threads.IDMapping{EntityType: entity, ServerID: id}
		if mapped[key] {
			return
		}
		mapped[key] = true
		if rnd.IntN(500) > 0 {
			mappings = append(mappings, threads.IDMapping{EntityType: entity, ServerID: id, CloudID: id + 5_000_000})
		}
	}
	for i := range int64(n) {
		first := i - i%perIssue
		r := threads.Record{IssueID: 10_000 + i/perIssue, CommentID: far(100_000 + 2*i), ParentCommentID: 100_000 + 2*first - 1}
		if before := i - first; before > 0 && rnd.IntN(4) > 0 {
			r.ParentCommentID = far(100_000 + 2*(first+rnd.Int64N(before)))
		}
		switch rnd.IntN(200) {
		case 0:
			r.ParentCommentID = r.CommentID
		case 1:
			r.ParentCommentID = far(100_000 + 2*rnd.Int64N(int64(n)))
		}
		records = append(records, r)
		mapTo(threads.EntityIssue, r.IssueID)
		mapTo(threads.EntityComment, r.CommentID)
		mapTo(threads.EntityComment, r.ParentCommentID)
	}
	slices.SortFunc(records, func(a, b threads.Record) int {
		if a.IssueID != b.IssueID {
			return int(a.IssueID - b.IssueID)
		}
		return compareIDs(a.CommentID, b.CommentID)
	})
	return records, mappings
}

func compareIDs(a, b int64) int {
	if a < b {
		return -1
	}
	return 1
}

// folder is a folder in which commands run, with the password of admin.
type folder struct {
	t    *testing.T
	path string
}

func newFolder(t *testing.T) folder {
	t.Helper()
	f := folder{t, t.TempDir()}
	f.write("password", loadtest.AdminPassword+"\n")
	return f
}

func (f folder) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.path, name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) read(name string) string {
	f.t.Helper()
	b, err := os.ReadFile(filepath.Join(f.path, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

// ended is how a command ended.
type ended struct {
	code     int
	out, err string
}

func (e ended) String() string {
	return fmt.Sprintf("exit code %d\n%s\n%s", e.code, e.out, e.err)
}

// commandTime is how long any one command may take, kills included.
const commandTime = 3 * time.Minute

// threads runs `outrigger threads …` as admin of a node.
func (f folder) threads(p *loadtest.Process, args ...string) ended {
	f.t.Helper()
	return f.threadsAs("admin", p, args...)
}

// threadsAs does it as a user, who has the same password.
func (f folder) threadsAs(user string, p *loadtest.Process, args ...string) ended {
	f.t.Helper()
	if args[0] == "export" || args[0] == "id-mappings" {
		args = append(args, "--from", "http://"+p.Addr())
	} else {
		args = append(args, "--server", "http://"+p.Addr())
	}
	return f.command(slices.Concat([]string{"threads"}, args, []string{"--user", user, "--password-file", "password"})...)
}

// command runs the program.
func (f folder) command(args ...string) ended {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.t.Context()), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = f.path
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		f.t.Error(err)
		return ended{code: -1}
	}
	return ended{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// must runs a command that ends with a code and prints what it is to print.
func (f folder) must(code int, says string, p *loadtest.Process, args ...string) ended {
	f.t.Helper()
	e := f.threads(p, args...)
	if e.code != code || !strings.Contains(e.out+e.err, says) {
		f.t.Fatalf("threads %s: %v\nwant %d and %q", strings.Join(args, " "), e, code, says)
	}
	return e
}

// into reads what a command printed with --json.
func (f folder) into(e ended, out any) {
	f.t.Helper()
	if err := json.Unmarshal([]byte(e.out), out); err != nil {
		f.t.Fatalf("%v in %v", err, e)
	}
}

// backup returns every parent map of a node's target by way of a backup.
func (f folder) backup(p *loadtest.Process, name string) map[int64]threads.ParentMap {
	f.t.Helper()
	f.must(0, "written to "+name, p, "backup", "--out", name)
	file, err := os.Open(filepath.Join(f.path, name))
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	in, err := format.NewBackupReader(file)
	if err != nil {
		f.t.Fatal(err)
	}
	found := map[int64]threads.ParentMap{}
	for {
		m, err := in.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			f.t.Fatal(err)
		}
		found[m.CloudIssueID] = m.Parents
	}
}

// sameMaps holds the maps of a target to those of a model.
func sameMaps(t *testing.T, found, want map[int64]threads.ParentMap) {
	t.Helper()
	if maps.EqualFunc(found, want, slices.Equal) {
		return
	}
	t.Errorf("the target has %d issues, the model %d", len(found), len(want))
	for issue, m := range want {
		if !slices.Equal(found[issue], m) {
			t.Fatalf("issue %d: %v, want %v", issue, found[issue], m)
		}
	}
}

// sameErrors holds the report of the permanent errors to those of a model.
func (f folder) sameErrors(p *loadtest.Process, want map[threads.Record]threads.Reason) {
	f.t.Helper()
	f.must(0, fmt.Sprintf("%d errors written to", len(want)), p, "errors", "--out", "errors.csv")
	rows, err := csv.NewReader(strings.NewReader(f.read("errors.csv"))).ReadAll()
	if err != nil {
		f.t.Fatal(err)
	}
	found := map[threads.Record]threads.Reason{}
	for _, row := range rows[1:] {
		var ids [3]int64
		for i := range ids {
			if ids[i], err = strconv.ParseInt(row[i], 10, 64); err != nil {
				f.t.Fatal(err)
			}
		}
		found[threads.Record{IssueID: ids[0], CommentID: ids[1], ParentCommentID: ids[2]}] = threads.Reason(row[3])
	}
	if !maps.Equal(found, want) {
		f.t.Errorf("%d errors are reported, the model has %d, and they are not the same", len(found), len(want))
	}
}

// migrationFiles writes hierarchy.json and mappings.csv, and returns what comes of
// them.
func (f folder) migrationFiles(n int, seed uint64) *threadstest.Model {
	f.t.Helper()
	records, mappings := hierarchyOf(n, seed)
	f.write("hierarchy.json", threadstest.Hierarchy(records))
	f.write("mappings.csv", threadstest.CSV(mappings))
	return threadstest.NewModel(records, mappings)
}
