package api

import (
	"net/http"

	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

// operationWords describe the operations of the migration that name no files.
var operationWords = map[threads.Operation]rest.Words{
	threads.OpStop: {
		ID: "stopMigration", Summary: "Pauses processing; a write in flight may still land.",
		Text: "Needs `SYS_ADMIN`. Allowed in the phase PROCESSING.",
	},
	threads.OpContinue: {
		ID: "continueMigration", Summary: "Continues processing after a stop or a failure.",
		Text: "Needs `SYS_ADMIN`. Allowed in the phases PAUSED and FAILED.",
	},
	threads.OpRetry: {
		ID: "retryMigration", Summary: "Processes the records again that the target refused, without an upload.",
		Text: "Needs `SYS_ADMIN`. Allowed in the phase COMPLETED, where records have the reason target_not_found, target_forbidden or " +
			"target_changed.",
		RefusedFor: map[int]string{
			http.StatusConflict: "The present phase does not allow it, or the target has refused nothing.",
		},
	},
	threads.OpUndo: {
		ID: "undoMigration", Summary: "Gives each issue that was written what it had before, the last one first; then the migration is EMPTY.",
		Text: "Needs `SYS_ADMIN`. Allowed in the phases COMPLETED, CANCELLED, FAILED and PAUSED, where something may have been " +
			"written. It goes on in the phase PROCESSING; `stop` pauses it, and `continue` or `undo` go on. Thread relationships that " +
			"others changed since stay, and `undo.kept` counts their issues.\n" +
			"Where the target forbids writing to an issue, or does not show it, the migration is FAILED in the end, and `continue` tries " +
			"those issues again; `undo.left` lists them, each with its reason.\n" +
			"After a stop, requests that were under way may still be carried out; undoing waits for the time limit of a request " +
			"(`threads.jira_cloud.timeout`) before it begins.",
		RefusedFor: map[int]string{
			http.StatusConflict: "The present phase does not allow it, or nothing was written.",
		},
	},
	threads.OpCancel: {
		ID: "cancelMigration", Summary: "Cancels the migration; parent maps that were written stay. Undo or reset it before a new one.",
		Text: "Needs `SYS_ADMIN`. Allowed in the phases LOADING, READY, PAUSED, PROCESSING and FAILED.",
	},
	threads.OpReset: {
		ID: "resetMigration", Summary: "Clears drafts, data, progress and errors, so that a new migration can start; parent maps that were " +
			"written stay.",
		Text: "Needs `SYS_ADMIN`. Allowed in every phase but PROCESSING.",
	},
}

var startWords = rest.Words{
	ID: "startMigration", Summary: "Begins to create thread relationships of the data that is loaded.",
	Text: "Needs `SYS_ADMIN`. Allowed in the phase READY. A body, which may be left out, names the data that is meant, as `data` of " +
		"the status does; where other data is loaded, it is 409.",
}

var loadWords = rest.Words{
	ID: "loadMigration", Summary: "Takes the two drafts over into the migration; what was loaded before is replaced.",
	Text: "Needs `SYS_ADMIN`. The body names the files, as their preview does under `drafts`; without it, or where others are there " +
		"now, it is 409 with the ids, digests and owners of those that are. Where no preview was asked for, the files have no digests " +
		"yet: they are read first, which `status` and `preview` follow. Allowed in the phases EMPTY, LOADING and READY.",
	RefusedFor: map[int]string{
		http.StatusConflict: "A file is missing or is not the one that was named, or the phase does not allow it, or a file is damaged " +
			"or not all there, which the message tells with the numbers.",
	},
}
