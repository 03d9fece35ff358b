package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"outrigger/internal/rest"
)

// ThreadsUpload is a file that was sent, or is being sent.
type ThreadsUpload struct {
	ID        int64     `json:"id" doc:"The upload's id."`
	Kind      string    `json:"kind" enum:"hierarchy,mappings,backup" doc:"What the file is for."`
	URL       string    `json:"url" format:"uri" doc:"Where the file goes."`
	Offset    int64     `json:"offset" doc:"How many bytes are here."`
	Length    int64     `json:"length" doc:"How many the file has."`
	Filename  string    `json:"filename,omitempty" doc:"What it was called where it was sent from; absent where that was not said."`
	CreatedBy string    `json:"createdBy" doc:"Who began it."`
	CreatedAt time.Time `json:"createdAt" doc:"When it was begun."`
	ExpiresAt time.Time `json:"expiresAt" doc:"When it is deleted unless it is added to or loaded."`
}

// uploadList is a list of one page: there is at most one upload of a kind.
type uploadList struct {
	Items []ThreadsUpload `json:"items" doc:"The uploads, the oldest first."`
}

func (a *Uploads) registerList(r *rest.Router) {
	rest.Add(r, rest.Route{Method: http.MethodGet, Path: a.Path, Access: rest.SysAdmins}, rest.Words{
		ID: "listUploads", Tag: tag,
		Summary: "Lists the files that were sent, or are being sent, so that another client can go on with one.",
		Text:    "Needs `SYS_ADMIN`. There is at most one of a kind. What was loaded or restored is no longer listed.",
		Answer:  "The drafts, the oldest first.",
	}, a.list, rest.Example[struct{}, uploadList]{Name: "one", Out: &uploadList{Items: []ThreadsUpload{{
		ID: 7, Kind: "hierarchy", URL: "https://tools.example.com/rest/threaded-comments/1.0/migration/uploads/7", Offset: 1 << 20,
		Length:   7_000_000,
		Filename: "comments_hierarchy_export.json", CreatedBy: "admin", CreatedAt: day, ExpiresAt: day.Add(24*time.Hour + 12*time.Second),
	}}}})
}

func (a *Uploads) list(ctx context.Context, _ struct{}) (uploadList, error) {
	list := uploadList{Items: []ThreadsUpload{}}
	found, err := a.Store.List(ctx)
	if err != nil {
		return list, err
	}
	for _, u := range found {
		if slices.Contains(a.Kinds, u.Kind) {
			list.Items = append(list.Items, ThreadsUpload{
				u.ID, u.Kind, a.link(ctx, u.ID), u.Received, u.Length, u.Filename, u.CreatedBy, u.CreatedAt, u.ExpiresAt,
			})
		}
	}
	return list, nil
}
