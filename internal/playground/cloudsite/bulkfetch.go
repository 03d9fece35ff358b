package cloudsite

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// BulkFetch is the Request.Key of the call for several issues.
const BulkFetch = "bulkfetch"

// maxBulk is how many issues one call may be about.
const maxBulk = 100

// writes reports whether a request changes an issue.
func (r Request) writes() bool { return r.Method == http.MethodPut || r.Method == http.MethodDelete }

// bulkFetch returns the issues that are asked for, in the order of their ids and
// without those that the account may not see, each with its project.
// Source: https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issues/#api-rest-api-3-issue-bulkfetch-post
func (s *Site) bulkFetch(r Request) answer {
	var asked struct {
		Issues []string `json:"issueIdsOrKeys"`
	}
	if json.Unmarshal([]byte(r.Value), &asked) != nil || len(asked.Issues) == 0 {
		return failure(http.StatusBadRequest, "The list of issues is missing.")
	}
	if len(asked.Issues) > maxBulk {
		return failure(http.StatusBadRequest, fmt.Sprintf("At most %d issues can be fetched at once.", maxBulk))
	}
	var ids []int64
	for _, text := range asked.Issues {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil && id > 0 && (s.o.Missing == nil || !s.o.Missing(id)) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	issues := []map[string]any{}
	for _, id := range ids {
		key := fmt.Sprintf("CLOUD-%d", id)
		if s.o.Key != nil {
			key = s.o.Key(id)
		}
		project := map[string]any{"key": key[:max(strings.LastIndexByte(key, '-'), 0)]}
		issues = append(issues, map[string]any{"id": strconv.FormatInt(id, 10), "key": key, "fields": map[string]any{"project": project}})
	}
	text, _ := json.Marshal(map[string]any{"issues": issues, "issueErrors": []string{}}) // texts alone
	return success(http.StatusOK, string(text))
}
