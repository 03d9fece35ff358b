package identity

import (
	"context"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// theyGoOn holds for a token t whose scope works on after a restore. Machines have
// these tokens, and they neither read what is not theirs nor change settings.
const theyGoOn = `t.scope IN ('monitoring', 'builds', 'mail')`

// AfterRestore ends all sessions of a database that is in an earlier state, and has
// tokens rest until KeepTokens: which of them were revoked since is not known. Those
// of the scopes monitoring, builds and mail work on.
func AfterRestore(ctx context.Context, tx *db.Tx) error {
	sessions, err := endAllSignIns(ctx, tx)
	if err != nil {
		return err
	}
	tokens, err := tx.Changed(ctx, "having tokens rest", `INSERT INTO identity_resting (token_id, since)
		SELECT t.id, CAST($1 AS BIGINT) FROM identity_tokens t
		WHERE NOT `+theyGoOn+` ON CONFLICT (token_id) DO NOTHING`, db.Micros(tx.Now()))
	if err != nil {
		return err
	}
	return recordAfterRestore(ctx, tx, "rest", map[string]string{"sessionsEnded": idText(sessions), "tokensResting": idText(tokens)})
}

// endAllSignIns ends all sessions, what waits for its second step or for a provider,
// and codes that confirm a session.
func endAllSignIns(ctx context.Context, tx *db.Tx) (sessions int64, err error) {
	for _, table := range []string{"identity_steps", "identity_sign_ins", "identity_confirm_codes"} {
		if err := tx.Do(ctx, "ending sessions", `DELETE FROM `+table); err != nil {
			return 0, err
		}
	}
	return tx.Changed(ctx, "ending sessions", `DELETE FROM identity_sessions`)
}

func recordAfterRestore(ctx context.Context, tx *db.Tx, action string, after map[string]string) error {
	return audit.Record(ctx, tx, WithActor(ctx, audit.Entry{
		Who: "outrigger", Area: "identity", Action: action, Object: "access", After: after,
	}))
}

// RestingTokens lists the tokens of all users that rest.
func RestingTokens(ctx context.Context, tx *db.Tx) ([]Token, error) {
	return tokensWhere(ctx, tx, `r.since IS NOT NULL`)
}

// WorkingTokens lists the tokens of all users that work on after a restore, although
// they may have been revoked since.
func WorkingTokens(ctx context.Context, tx *db.Tx) ([]Token, error) {
	return tokensWhere(ctx, tx, theyGoOn)
}

func tokensWhere(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]Token, error) {
	return db.List(ctx, tx, "reading tokens", scanToken, selectToken+` WHERE `+condition+` ORDER BY u.source, u.name_key, t.id`, args...)
}

// KeepTokens has tokens work again that rest. Invalid, about the field keepTokens:
// one of them does not.
func KeepTokens(ctx context.Context, tx *db.Tx, ids []int64) error {
	var wrong fault.Fields
	for _, id := range ids {
		n, err := tx.Changed(ctx, "having a token work again",
			`DELETE FROM identity_resting WHERE token_id = $1 AND token_id IN (SELECT id FROM identity_tokens)`, id)
		if err != nil {
			return err
		}
		if n == 0 {
			wrong.Add("keepTokens", "No token %d is resting; use the ids of tokens that are.", id)
			continue
		}
		t, err := tokenBy(ctx, tx, `t.id = $1`, id)
		if err != nil {
			return err
		}
		if err := record(ctx, tx, "keep", "token", idText(id), nil, t.members()); err != nil {
			return err
		}
	}
	return wrong.Err()
}

// refusal is why a token that is right is refused: it rests.
func (h tokenHolder) refusal() error {
	if t := h.token; !t.RestsSince.IsZero() {
		return fault.New(fault.Forbidden, "The token %d has been resting since the restore at %s. An administrator can let it work "+
			"again under System, Backup or with: outrigger backup confirm --keep-token %d",
			t.ID, t.RestsSince.UTC().Format("2006-01-02 15:04 UTC"), t.ID)
	}
	return nil
}
