package secret

import (
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// PostgreSQL undoes the first transaction of a rotation, which is tried again: no
// value is passed over, and none counted twice.
func TestRotationThatIsUndone(t *testing.T) {
	const n = rotateAtOnce + 5
	d := dbtest.Postgres(t, Migrations, vault)
	if err := d.Migrate(t.Context(), Migrations, vault); err != nil {
		t.Fatal(err)
	}
	filled(t, d, 1, n)
	both, err := Open(t.Context(), d, keyOf(2), keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	// A sequence counts on also where a transaction is undone.
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		for _, q := range []string{
			`CREATE SEQUENCE tries`,
			`CREATE FUNCTION undo_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF nextval('tries') = 3 THEN RAISE EXCEPTION 'undone' USING ERRCODE = '40001'; END IF; RETURN NEW; END $$`,
			`CREATE TRIGGER undo_once BEFORE UPDATE ON vault FOR EACH ROW EXECUTE FUNCTION undo_once()`,
		} {
			if _, err := tx.Exec(t.Context(), q); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if sealed, lost, err := both.Rotate(t.Context(), d, vaultPlaces); sealed != n+1 || lost != 0 || err != nil { // with the canary
		t.Errorf("rotated %d, lost %d: %v; want %d", sealed, lost, err, n+1)
	}
	alone, err := Open(t.Context(), d, keyOf(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := opened(t, d, alone); got != n {
		t.Errorf("%d of %d open with the new key alone", got, n)
	}
}
