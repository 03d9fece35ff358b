package audit

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entries reads the whole trail back, the oldest first.
func entries(t *testing.T, d *db.DB) []Entry {
	t.Helper()
	var all []Entry
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT at, who, source, address, request_id, area, action, object, object_id, object_name,
			connection, project, repository, before_json, after_json FROM audit_entries ORDER BY id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var e Entry
			var at int64
			var before, after []byte
			if err := rows.Scan(&at, &e.Who, &e.Source, &e.Address, &e.RequestID, &e.Area, &e.Action, &e.Object, &e.ObjectID, &e.ObjectName,
				&e.Connection, &e.Project, &e.Repository, &before, &after); err != nil {
				return err
			}
			e.At = db.Time(at)
			if err := errors.Join(json.Unmarshal(before, &e.Before), json.Unmarshal(after, &e.After)); err != nil {
				return err
			}
			all = append(all, e)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEntryIsStoredWithItsChangeOrNotAtAll(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := Entry{
			At: time.Date(2026, 11, 5, 7, 28, 0, 123000, time.UTC), Who: "admin", Source: "local", Address: "192.0.2.7", RequestID: "r1",
			Area: "notifications", Action: "update", Object: "rule", ObjectID: "7", ObjectName: "Releases",
			Connection: "git", Project: "ALPHA", Repository: "api",
			Before: map[string]string{"name": "old", "branch": "main", "mask": "x"},
			After:  map[string]string{"name": "new", "branch": "main", "users": "ünï\"\x00"},
		}
		refused := errors.New("the change failed")
		write := func(then error) error {
			return d.Write(t.Context(), func(tx *db.Tx) error {
				if err := Record(t.Context(), tx, e); err != nil {
					return err
				}
				return then
			})
		}
		if err := write(refused); !errors.Is(err, refused) {
			t.Fatal(err)
		}
		if got := entries(t, d); len(got) != 0 {
			t.Fatalf("the change was taken back, its entry was not: %+v", got)
		}
		if err := write(nil); err != nil {
			t.Fatal(err)
		}
		e.Before, e.After = map[string]string{"name": "old", "mask": "x"}, map[string]string{"name": "new", "users": "ünï\"\x00"}
		if diff := cmp.Diff([]Entry{e}, entries(t, d)); diff != "" {
			t.Error(diff)
		}

		e.At = time.Time{}
		var now time.Time
		if err := d.Write(t.Context(), func(tx *db.Tx) error { now = tx.Now(); return Record(t.Context(), tx, e) }); err != nil {
			t.Fatal(err)
		}
		if got := entries(t, d)[1].At; !got.Equal(now) {
			t.Errorf("an entry without a time is at %v, its transaction at %v", got, now)
		}
	}, Migrations)
}

func TestDeleteTakesTheOldestFirst(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var deleted []int64
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			for _, day := range []int{4, 1, 3, 0, 2} {
				if err := Record(t.Context(), tx, Entry{At: start.AddDate(0, 0, day)}); err != nil {
					return err
				}
			}
			for range 3 {
				n, err := Delete(t.Context(), tx, start.AddDate(0, 0, 3), 2)
				if err != nil {
					return err
				}
				deleted = append(deleted, n)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{2, 1, 0}, deleted); diff != "" {
			t.Error(diff)
		}
		var left []int
		for _, e := range entries(t, d) {
			left = append(left, int(e.At.Sub(start).Hours()/24))
		}
		if diff := cmp.Diff([]int{4, 3}, left); diff != "" {
			t.Error(diff)
		}
	}, Migrations)
}

func TestOnlyWhatDiffersIsKept(t *testing.T) {
	members := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.SampledFrom([]string{"", "1", "2"}))
	rapid.Check(t, func(t *rapid.T) {
		before, after := members.Draw(t, "before"), members.Draw(t, "after")
		was, is := difference(before, after)
		var lost, won map[string]string
		if err := errors.Join(json.Unmarshal([]byte(was), &lost), json.Unmarshal([]byte(is), &won)); err != nil {
			t.Fatal(err)
		}
		// What differs, put on what was, gives what is.
		applied := maps.Clone(before)
		for name := range lost {
			delete(applied, name)
		}
		maps.Copy(applied, won)
		if !maps.Equal(applied, after) {
			t.Fatalf("from %v with -%v +%v to %v, want %v", before, lost, won, applied, after)
		}
		for name, value := range lost {
			if w, both := won[name]; both && w == value {
				t.Fatalf("%s is the same and was kept", name)
			}
		}
	})
}
