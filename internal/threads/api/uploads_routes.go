package api

import (
	"net/http"

	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

// tusRequest is what every request of tus but OPTIONS says; versioned reads it.
type tusRequest struct {
	Version string `header:"Tus-Resumable" required:"true" doc:"The version of tus." example:"1.0.0"`
}

type tusCreation struct {
	tusRequest
	Length   int64  `header:"Upload-Length" required:"true" min:"0" doc:"Bytes of the whole file." example:"70"`
	Metadata string `header:"Upload-Metadata" required:"true" example:"kind aGllcmFyY2h5,filename ZXhwb3J0Lmpzb24="`
}

// MemberWords are those too long for a tag.
func (tusCreation) MemberWords() map[string]string {
	return map[string]string{
		"Upload-Metadata": "`kind`, which is `hierarchy`, `mappings` or `backup`, and perhaps `filename` and, of `mappings`, `site`, " +
			"the URL of the cloud site that the report is for; the values in base64. `replace`, without a value, takes the place of " +
			"another file of the kind.",
	}
}

type tusUpload struct {
	ID int64 `path:"id" doc:"The id of the upload, as the list of uploads gives it." example:"1"`
}

type tusOfUpload struct {
	tusUpload
	tusRequest
}

type tusPart struct {
	tusOfUpload
	Offset   int64  `header:"Upload-Offset" required:"true" min:"0" doc:"Where in the file the body begins." example:"0"`
	Checksum string `header:"Upload-Checksum" doc:"An algorithm and the checksum in base64."`
}

type tusOverride struct {
	tusOfUpload
	Method string `header:"X-HTTP-Method-Override" required:"true" enum:"PATCH,HEAD,DELETE" doc:"The method that is meant." example:"HEAD"`
}

var tusFeatures = []string{"Tus-Version", "Tus-Extension", "Tus-Max-Size", "Tus-Checksum-Algorithm"}

// registerTus adds the routes of tus. Their headers are read where they are used: tus
// has an order in which they are looked at, and statuses of its own.
func (a *Uploads) registerTus(r *rest.Router) {
	one := a.Path + "/{id}"
	conflict := []int{http.StatusConflict, http.StatusPreconditionFailed, statusChecksum}
	addTus[struct{}](a, r, "OPTIONS", a.Path, a.options, rest.Words{
		ID: "describeUploads", Summary: "Answers the supported features of tus.", Text: "In headers.", Answer: "In the headers.",
		Headers: tusFeatures,
	})
	addTus[tusUpload](a, r, "OPTIONS", one, a.options, rest.Words{
		ID: "describeUpload", Summary: "Answers the supported features of tus.", Text: "As for all uploads.", Answer: "In the headers.",
		Headers: tusFeatures,
	})
	addTus[tusCreation](a, r, "POST", a.Path, a.create, rest.Words{
		ID: "beginUpload", Summary: "Begins to send a file, by tus 1.0.0.", Status: http.StatusCreated,
		Answer: "It is begun; `Location` is where the file goes.",
		Text: "Needs `SYS_ADMIN`. See https://tus.io/protocols/resumable-upload; any tus client can be used. Extensions: creation, " +
			"creation-with-upload, checksum (sha1, sha256; a body with one has at most 8 MiB), expiration, termination. A file has at most " +
			"`threads.max_upload`, packed or not, and ends 24 h after its last byte came. While there is a file of the kind that is being sent, " +
			"or was sent and is not loaded yet, by whichever user, another one is 409 with its owner, name, age and address; with `replace` in " +
			"`Upload-Metadata` it takes that one's place, which the audit trail keeps and its owner is told on the page.",
		Headers: []string{"Location", "Upload-Expires"}, Refused: append(conflict, http.StatusBadRequest, http.StatusRequestEntityTooLarge),
	})
	addTus[tusOfUpload](a, r, "HEAD", one, a.head, rest.Words{
		ID: "showUpload", Summary: "Answers how much of a file was received, in `Upload-Offset`.", Text: needsSysAdmin, Status: http.StatusOK,
		Answer: "In the headers.", Headers: []string{"Upload-Offset", "Upload-Length", "Upload-Expires"},
		Refused: []int{http.StatusPreconditionFailed},
	})
	addTus[tusPart](a, r, "PATCH", one, a.patch, rest.Words{
		ID: "continueUpload", Summary: "Brings a part of a file, or the rest of it.",
		Text: "Needs `SYS_ADMIN`. What came in of a body that broke off is kept. With `Upload-Checksum` the body is at most 8 MiB, and " +
			"stored whole or not at all.",
		Answer: "It is stored; `Upload-Offset` is how much there is now.", Headers: []string{"Upload-Offset", "Upload-Expires"},
		Refused: conflict,
		Takes: []rest.Media{{Type: offsetType, Examples: map[string]any{
			"fresh": `[{"issueId":10001,"commentId":10502,"parentCommentId":10501}]`,
		}}},
	}, rest.Example[tusPart, rest.None]{Name: "fresh", Err: threads.ErrNoUpload(1)})
	addTus[tusOfUpload](a, r, "DELETE", one, a.delete, rest.Words{
		ID: "deleteUpload", Summary: "Deletes a file.", Text: needsSysAdmin, Answer: "It is gone.", Refused: []int{http.StatusPreconditionFailed},
	}, rest.Example[tusOfUpload, rest.None]{Name: "fresh", Err: threads.ErrNoUpload(1)})
	addTus[tusOverride](a, r, "POST", one, a.override, rest.Words{
		ID: "overrideUpload", Summary: "Does what another method does, for clients that cannot send PATCH, HEAD or DELETE.",
		Text: "Needs `SYS_ADMIN`. `X-HTTP-Method-Override` says which of them it is.", Answer: "As for PATCH and DELETE.",
		Also:    []rest.Success{{Status: http.StatusOK, Text: "As for HEAD."}},
		Refused: append(conflict, http.StatusBadRequest, http.StatusRequestEntityTooLarge),
	}, rest.Example[tusOverride, rest.None]{Name: "fresh", Err: threads.ErrNoUpload(1)})
}

// addTus adds a route of tus, whose headers are In.
func addTus[In any](
	a *Uploads, r *rest.Router, method, path string, h rest.Handler, words rest.Words, examples ...rest.Example[In, rest.None],
) {
	access := rest.SysAdmins
	if method == http.MethodOptions {
		access = rest.Anyone
	}
	words.Tag = tag
	words.RefusedFor = map[int]string{
		http.StatusPreconditionFailed: "`Tus-Resumable` names another version of tus, or is missing; see `Tus-Version`.",
		statusChecksum:                "The checksum does not fit; nothing was stored.",
	}
	// A body may be a whole file; Own, because most answers have none.
	rest.Handle[In, rest.None](r, rest.Route{Method: method, Path: path, Access: access, MaxBody: a.Max, Own: true}, words, a.versioned(h),
		examples...)
}
