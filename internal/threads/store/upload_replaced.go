package store

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
)

// Replacement is a file in whose place another one was sent.
type Replacement struct {
	Kind, Filename string
	With           string // the other file's name
	By             string // who sent that
	At             time.Time
}

// maxReplaced bounds what is looked through for one reader: more than a page can say.
const maxReplaced = 100

// Replaced lists the files of a user that others have replaced in the time for which a
// file is kept, the newest first.
func (s *Store) Replaced(ctx context.Context, owner string) (list []Replacement, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list = nil
		found, err := audit.List(ctx, tx, audit.Visible{All: true}, audit.Filter{
			Area: auditArea, Object: objectDraft, Action: actionReplace, Since: tx.Now().Add(-uploadKept), Limit: maxReplaced,
		})
		for _, e := range found {
			if e.Before[draftOwner] == owner && e.Who != owner {
				list = append(list, Replacement{e.Before["kind"], e.Before["file"], e.After["file"], e.Who, e.At})
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for replaced files: %w", err)
	}
	return list, nil
}
