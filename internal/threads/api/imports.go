package api

import (
	"context"
	"net/http"

	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/source"
)

// ofSite is a request about the mappings of a cloud site.
type ofSite struct {
	CloudSiteURL string `query:"cloudSiteUrl" required:"true" doc:"The cloud site." example:"https://example.atlassian.net"`
}

// packed is a file that may be packed, of whatever media type.
var packed = rest.Media{Type: "application/octet-stream"}

const exampleMappings = "entityType,serverId,cloudId\njira:issue,17499,10542\njira:comment,16412,11782\n"

func (a *Source) registerImports(r *rest.Router) {
	hierarchy, mappings := SourcePath+"/hierarchy", SourcePath+"/mappings"
	upload := max(a.Imports.MaxUpload, 1)
	rest.Serve[struct{}, source.HierarchyImport](r, rest.Route{Method: "POST", Path: hierarchy, Access: rest.SysAdmins, MaxBody: upload},
		rest.Words{
			ID: "importHierarchy", Tag: tag, Summary: "Imports a hierarchy file.", Answer: "The result of the import.",
			Text: "Needs `SYS_ADMIN`. The body is a JSON array of records or export pages, perhaps packed with gzip or zip, of any media " +
				"type, up to `threads.max_upload`. The same record again changes nothing, another parent for a comment replaces it. The file " +
				"is taken as it comes: what was taken before an error stays, and sending it again takes the rest.",
			Takes: []rest.Media{{Type: "application/json", Examples: map[string]any{
				"records": []threads.Record{{IssueID: 10001, CommentID: 10502, ParentCommentID: 10501},
					{IssueID: 10001, CommentID: 10503, ParentCommentID: 10502}},
				"page": threads.ExportPage{Data: []threads.Record{{IssueID: 10001, CommentID: 10504, ParentCommentID: 10501}}, TotalCount: 1},
			}}, packed},
			Refused: []int{http.StatusConflict},
		}, a.importHierarchy)
	rest.Add(r, rest.Route{Method: "DELETE", Path: hierarchy, Access: rest.SysAdmins}, rest.Words{
		ID: "clearHierarchy", Tag: tag, Summary: "Removes the hierarchy.", Text: needsSysAdmin, Answer: "It is gone.",
		Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, _ struct{}) error { return a.Imports.Clear(ctx) }))
	rest.Serve[ofSite, source.MappingImport](r, rest.Route{Method: "POST", Path: mappings, Access: rest.SysAdmins, MaxBody: upload},
		rest.Words{
			ID: "importMappings", Tag: tag, Summary: "Imports a mappings file of a cloud site.", Answer: "The result of the import.",
			Text: "Needs `SYS_ADMIN`. The body is CSV with the columns entityType, serverId and cloudId, perhaps packed with gzip or zip, " +
				"of any media type, up to `threads.max_upload`. Another cloud id for an entity replaces it. It is taken as it comes.",
			Takes: []rest.Media{{Type: "text/csv", Examples: map[string]any{"short": exampleMappings}}, packed},
		}, a.importMappings)
	rest.Add(r, rest.Route{Method: "DELETE", Path: mappings, Access: rest.SysAdmins}, rest.Words{
		ID: "forgetMappings", Tag: tag, Summary: "Removes the mappings of a cloud site, and its report.", Text: needsSysAdmin,
		Answer:  "They are gone.",
		Refused: []int{http.StatusNotFound},
	}, rest.Done(func(ctx context.Context, in ofSite) error { return a.Imports.Forget(ctx, in.CloudSiteURL) }))
}

func (a *Source) importHierarchy(w http.ResponseWriter, r *http.Request, _ struct{}) error {
	out, err := a.Imports.Hierarchy(r.Context(), r.Body)
	a.Metrics.Imported(out.ImportCounts)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func (a *Source) importMappings(w http.ResponseWriter, r *http.Request, in ofSite) error {
	out, err := a.Imports.Mappings(r.Context(), in.CloudSiteURL, r.Body)
	a.Metrics.Imported(out.ImportCounts)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}
