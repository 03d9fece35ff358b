package api

import (
	"time"

	"outrigger/internal/backup"
	"outrigger/internal/identity"
)

var heldState = RestoreState{
	Held: true, Reason: backup.Earlier, Since: time.Date(2026, 11, 23, 14, 10, 3, 0, time.UTC),
	Text: "This database was restored: the node code-1 saw it last at 2026-11-23 14:02 UTC, and at 2026-11-23 14:10 UTC found an " +
		"earlier state, of 2026-11-23 13:40 UTC.",
	Access: "Users, permissions, passwords and second factors are those of the restored state: change passwords and remove users " +
		"that must not be valid any more. Tokens of scope all, read and backup are refused until you choose which of them to keep. " +
		"Tokens of scope mail, builds and monitoring work: revoke those that must not.",
	Waiting: waiting{Messages: 160, Channels: 4, Mails: 40},
	Resting: []RestoredToken{{12, "deploy", "release notes", identity.All, time.Date(2026, 11, 23, 13, 38, 0, 0, time.UTC)}},
	Working: []RestoredToken{{9, "deploy", "build server", identity.Builds, time.Date(2026, 11, 23, 13, 39, 0, 0, time.UTC)}},
}
