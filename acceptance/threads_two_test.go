package acceptance

import (
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// TestThreadsTwoAtOnce has two command lines migrate at once, half as often as TestKill
// kills, at random distances, in turn as two users and as one, with and without
// --replace: what ends with exit code 0 has its own data in the target, all of it and
// nothing else's, and what does not ends with 1 and a reason.
func TestThreadsTwoAtOnce(t *testing.T) {
	t.Parallel()
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			p := node(t, loadtest.Settings{DatabaseURL: database(t)})
			start(t, p)
			f := newFolder(t)
			f.secondAdministrator(p)
			through := 0
			for round := range max(10, kills(t)/2) {
				var models [2]*threadstest.Model
				var running [2]*running
				for i := range models {
					models[i] = f.sideFiles(i)
				}
				users := [2]string{"admin", "admin"}
				if round%2 == 0 {
					users[1] = "ann"
				}
				for i := range running {
					args := []string{"migrate", "--hierarchy", fmt.Sprintf("h%d.json", i), "--mappings", fmt.Sprintf("m%d.csv", i)}
					if mathrand.N(3) == 0 {
						args = append(args, "--replace")
					}
					running[i] = f.beginAs(users[i], p, args...)
					if i == 0 {
						running[0].lasts(mathrand.N(900 * time.Millisecond))
					}
				}
				want := map[int64]threads.ParentMap{}
				for i, r := range running {
					e := r.end()
					switch {
					case e.code == 0:
						through++
						for issue, m := range models[i].Maps {
							want[issue] = m
						}
					case e.code != 1 || !clear(e.err):
						t.Errorf("round %d, command %d: %v", round, i, e)
					}
				}
				if !t.Failed() {
					sameMaps(t, f.backup(p, "backup.gz"), want)
				}
				if t.Failed() {
					t.FailNow()
				}
				f.threads(p, "undo", "--yes") // what was written, if anything was
				f.must(0, "IDLE, EMPTY", p, "reset", "--yes")
			}
			if through == 0 {
				t.Error("none of them came through")
			}
		})
	}
}

// secondAdministrator adds ann.
func (f folder) secondAdministrator(p *loadtest.Process) {
	f.t.Helper()
	asAdmin := []string{"--server", "http://" + p.Addr(), "--user", "admin", "--password-file", "password"}
	for _, args := range [][]string{{"users", "add", "ann", "--new-password-file", "password"}, {"users", "grant", "ann", "SYS_ADMIN"}} {
		if e := f.command(append(args, asAdmin...)...); e.code != 0 {
			f.t.Fatalf("%s: %v", args, e)
		}
	}
}

// clear reports whether a refusal says what is wrong.
func clear(text string) bool {
	for _, says := range []string{
		"is already here and has not been loaded", "is already being uploaded", "There is no upload", "files on the server are not those that were sent",
		"The files are not those that are named", "is missing; choose and send it first", "which does not allow", "another migration is loaded",
		"other files were loaded meanwhile", "The upload", "was ended from elsewhere",
	} {
		if strings.Contains(text, says) {
			return true
		}
	}
	return false
}

// sideFiles writes the files of one of two, which have nothing in common.
func (f folder) sideFiles(side int) *threadstest.Model {
	f.t.Helper()
	records, mappings := threadstest.Many(400, 4)
	apart := int64(side) * 10_000_000
	for i := range records {
		r := &records[i]
		r.IssueID, r.CommentID, r.ParentCommentID = r.IssueID+apart, r.CommentID+apart, r.ParentCommentID+apart
	}
	for i := range mappings {
		mappings[i].ServerID, mappings[i].CloudID = mappings[i].ServerID+apart, mappings[i].CloudID+10*apart
	}
	f.write(fmt.Sprintf("h%d.json", side), threadstest.Hierarchy(records))
	f.write(fmt.Sprintf("m%d.csv", side), threadstest.CSV(mappings))
	return threadstest.NewModel(records, slices.Clone(mappings))
}
