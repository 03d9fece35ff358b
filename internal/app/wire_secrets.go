package app

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue/relay/token"
	notifystore "outrigger/internal/notify/store"
	"outrigger/internal/secret"
	adminsettings "outrigger/internal/settings"
)

// sealedPlaces is everything in the database that the key encrypts.
func sealedPlaces() []secret.Place {
	return slices.Concat(notifystore.SealedPlaces(), adminsettings.SealedPlaces(), identity.SealedPlaces(), token.SealedPlaces())
}

// RotateSecrets, in place of Start, encrypts everything with the present key
// that the previous one encrypted. With neither in the configuration it makes
// a new key file first. It gives how many values it encrypted again, and how
// many open with neither key.
//
// SQLite needs the server stopped; with PostgreSQL it works beside the servers,
// which all have both keys by then.
func (a *App) RotateSecrets(ctx context.Context) (sealed, lost int, err error) {
	err = a.startCommand(ctx, a.needDatabase, a.openDatabase, a.newKeyFile, a.openSecrets, func(ctx context.Context) error {
		sealed, lost, err = a.box.Rotate(ctx, a.db, sealedPlaces())
		return err
	})
	return sealed, lost, errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
}

// needDatabase refuses to work on a database that it would have to make: the
// command was run in another folder than the server.
func (a *App) needDatabase(context.Context) error {
	a.o.ExistingDatabase = true // of PostgreSQL, which has to be opened for that
	if !a.cfg.DatabaseURL.IsZero() {
		return nil
	}
	exists, err := db.Exists(a.cfg.DataDir)
	if err != nil || exists {
		return err
	}
	return fault.New(fault.NotFound, "There is no database in %s. Say where it is: with --data, or with --config and the configuration "+
		"file of the server.", a.cfg.DataDir)
}

// newKeyFile makes a new key where the key is a file. Where a rotation was
// interrupted, the new key is there and does not open the database yet.
func (a *App) newKeyFile(ctx context.Context) error {
	if !a.cfg.SecretKey.IsZero() {
		if a.cfg.PreviousKey.IsZero() {
			return fault.New(fault.Invalid, "Set secret_key to the new key and secret_key_previous to the old one, restart every node with "+
				"both, then rotate.")
		}
		return nil
	}
	key, err := secret.LoadKey(ctx, a.db, secret.Value{}, a.cfg.DataDir)
	if err != nil {
		return err
	}
	if _, err := secret.Open(ctx, a.db, key, nil); fault.Is(err, fault.Conflict) {
		return nil
	} else if err != nil {
		return err
	}
	return secret.NewKeyFile(a.cfg.DataDir)
}

// ForgetSecrets, in place of Start, gives up what the present key does not
// open, and has the database go by that key from now on. It gives how many
// values are lost: webhook URLs, tokens and secrets that have to be entered
// again.
func (a *App) ForgetSecrets(ctx context.Context) (lost int, err error) {
	err = a.startCommand(ctx, a.needDatabase, a.openDatabase, func(ctx context.Context) error {
		key, err := secret.LoadKeyOrNew(a.cfg.SecretKey, a.cfg.DataDir)
		if err != nil {
			return err
		}
		if lost, err = secret.Forget(ctx, a.db, key, sealedPlaces()); err != nil {
			return err
		}
		return a.db.Write(ctx, func(tx *db.Tx) error {
			return audit.Record(ctx, tx, audit.Entry{
				Who: "command line", Source: identity.Local, Area: "system", Action: "forget", Object: "secrets",
				After: map[string]string{"discarded": strconv.Itoa(lost)},
			})
		})
	})
	return lost, errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
}
