package processing

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

const oneRecord = `[{"issueId":1,"commentId":2,"parentCommentId":3}]`

var itsMappings = threadstest.CSV([]threads.IDMapping{
	{EntityType: threads.EntityIssue, ServerID: 1, CloudID: 10},
	{EntityType: threads.EntityComment, ServerID: 2, CloudID: 20}, {EntityType: threads.EntityComment, ServerID: 3, CloudID: 30},
})

// A load whose files cannot be used ends with the reason, and they are drafts
// again; so it is where an administrator has to say that some pages are enough.
func TestLoadsThatFail(t *testing.T) {
	const page = `{"offset":0,"data":[{"issueId":1,"commentId":2,"parentCommentId":3}],"hasMore":true,"totalCount":123456}`
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := newRig(t, d, nil)
		r.work()
		defer r.end()
		for _, c := range []struct{ name, hierarchy, mappings, want string }{
			{"a hierarchy that is none", "entityType,serverId,cloudId\n", itsMappings, "The hierarchy file is an id mappings CSV"},
			{"mappings that are none", oneRecord, oneRecord, "The id mappings file is JSON"},
			{"damaged gzip", "\x1f\x8b\x08 nothing", itsMappings, "The packed file is damaged"},
			{"some pages", page, itsMappings, "1 of 123,456: this is one page"},
		} {
			r.send(c.hierarchy, c.mappings)
			r.operate(threads.OpUpload)
			m := r.await(threads.PhaseEmpty)
			if !strings.Contains(m.Message, c.want) || m.Stage != 0 {
				t.Errorf("%s: %+v", c.name, m)
			}
			if drafts, err := r.store.Uploads.List(t.Context()); err != nil || len(drafts) != 2 {
				t.Errorf("%s: %d drafts are left, %v", c.name, len(drafts), err)
			}
		}
		// The same with the confirmation needs no second parse.
		st, err := r.store.Preview(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wish := threads.Wish{Drafts: st.Drafts()}
		if m, err := r.store.Operate(t.Context(), threads.OpUpload, wish); !fault.Is(err, fault.Conflict) {
			t.Errorf("%+v, %v", m, err)
		}
		wish.AcceptIncomplete = true
		if m, err := r.store.Operate(t.Context(), threads.OpUpload, wish); err != nil || m.Phase != threads.PhaseReady || m.Records != 1 {
			t.Errorf("%+v, %v", m, err)
		}
		r.operate(threads.OpReset)
	}, schema...)
}

// What a preview has staged is loaded at once, and a load that is cancelled
// gives the files back.
func TestPreviewThenLoad(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := newRig(t, d, nil)
		r.send(oneRecord, itsMappings)
		if st, err := r.store.Preview(t.Context()); err != nil || st.Preview != nil {
			t.Fatalf("%+v, %v", st, err)
		}
		r.operate(threads.OpUpload)
		r.operate(threads.OpCancel)
		if drafts, err := r.store.Uploads.List(t.Context()); err != nil || len(drafts) != 2 {
			t.Errorf("%d drafts are left, %v", len(drafts), err)
		}
		r.operate(threads.OpReset)
		r.send(oneRecord, itsMappings)
		r.work()
		defer r.end()
		var previewed threads.Drafts
		for {
			st, err := r.store.Preview(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if st.Preview != nil {
				previewed = st.Drafts()
				if st.Preview.Records != 1 || st.Preview.TotalErrors != 0 {
					t.Errorf("%+v", st.Preview)
				}
				break
			}
			<-time.After(time.Millisecond)
		}
		m, err := r.store.Operate(t.Context(), threads.OpUpload, threads.Wish{Drafts: previewed})
		if err != nil || m.Phase != threads.PhaseReady || m.Records != 1 || m.Chunks != 1 {
			t.Errorf("%+v, %v", m, err)
		}
		if drafts, err := r.store.Uploads.List(t.Context()); err != nil || len(drafts) > 0 {
			t.Errorf("%d drafts are left, %v", len(drafts), err)
		}
		r.operate(threads.OpReset)
	}, schema...)
}

// Data that cannot be read fails the migration with a sentence, and nothing
// goes on about it until an administrator says so.
func TestDataThatIsDamaged(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.options.ChunkSize = 10
		records, mappings := threadstest.Many(100, 5)
		r.work()
		for _, damage := range []string{`DELETE FROM threads_chunks WHERE number = 5`, `UPDATE threads_chunks SET data = substr(data, 1, 20) WHERE number = 5`} {
			r.load(records, mappings)
			r.await(threads.PhaseReady)
			if err := r.db.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(t.Context(), damage)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			for _, op := range []threads.Operation{threads.OpStart, threads.OpContinue} {
				r.operate(op)
				if m := r.await(threads.PhaseFailed); !strings.HasPrefix(m.Message, "The database refused") || m.ChunksDone > 5 {
					t.Errorf("%+v", m)
				}
			}
			r.operate(threads.OpReset)
		}
	})
}

// A data set says which files it was made of, the parts that no decoder reads
// included: here what follows the end of a zip archive.
func TestInputs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := newRig(t, d, nil)
		r.work()
		defer r.end()
		var archive bytes.Buffer
		z := zip.NewWriter(&archive)
		w, err := z.Create("comments_hierarchy_export.json")
		if err == nil {
			_, err = io.WriteString(w, oneRecord)
		}
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		archive.Write(make([]byte, 3<<20))
		r.send(archive.String(), itsMappings)
		r.operate(threads.OpUpload)
		m := r.await(threads.PhaseReady)
		st, err := r.store.Stage(t.Context(), m.Stage)
		if err != nil {
			t.Fatal(err)
		}
		for i, content := range []string{archive.String(), itsMappings} {
			sum := sha256.Sum256([]byte(content))
			if in := st.Inputs[i]; in.SHA256 != hex.EncodeToString(sum[:]) || in.Size != int64(len(content)) || in.SentAt.IsZero() {
				t.Errorf("file %d of %d bytes: %+v", i, len(content), in)
			}
		}
		r.operate(threads.OpReset)
	}, schema...)
}
