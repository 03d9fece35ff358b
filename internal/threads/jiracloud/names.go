package jiracloud

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"outrigger/internal/threads"
	"outrigger/internal/work"
)

const (
	// maxNames is how much of an answer about threads.MaxNames issues is read. Each
	// comes with its project, which is one or two kilobytes of links to pictures.
	maxNames = 1 << 20
	// maxKey is how long a key may be that is kept; the vendor's have far less.
	maxKey = 255
)

// Names asks for the keys of issues and of their projects. Issues that the account
// may not see are left out of the site's answer.
// Source: https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issues/#api-rest-api-3-issue-bulkfetch-post
func (t *Target) Names(ctx context.Context, issues []int64) (map[int64]threads.IssueName, error) {
	asked := struct {
		Issues []string `json:"issueIdsOrKeys"`
		Fields []string `json:"fields"`
	}{Fields: []string{"project"}}
	for _, issue := range issues {
		asked.Issues = append(asked.Issues, strconv.FormatInt(issue, 10))
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, failed("The question for keys cannot be written")
	}
	a, err := t.site.ask(ctx, question{endpoint: fetching, value: body, max: maxNames})
	var answer struct {
		Issues *[]struct {
			ID     string `json:"id"`
			Key    string `json:"key"`
			Fields struct {
				Project struct {
					Key string `json:"key"`
				} `json:"project"`
			} `json:"fields"`
		} `json:"issues"`
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, unnamed(err)
	case a.status != http.StatusOK || json.Unmarshal(a.body, &answer) != nil || answer.Issues == nil:
		return nil, &threads.TargetError{Message: noNames, Status: a.status, Said: a.said}
	}
	names := map[int64]threads.IssueName{}
	for _, i := range *answer.Issues {
		if id, err := strconv.ParseInt(i.ID, 10, 64); err == nil {
			names[id] = threads.IssueName{Key: cleanKey(i.Key), Project: cleanKey(i.Fields.Project.Key)}
		}
	}
	return names, nil
}

const noNames = "The cloud site did not give the keys of its issues"

// unnamed says of an error only what is not about a single issue.
func unnamed(err error) error {
	e := &threads.TargetError{}
	if errors.As(err, &e) && e.Status != 0 {
		return &threads.TargetError{Kind: e.Kind, Message: noNames, Status: e.Status, Said: e.Said}
	}
	return err
}

// cleanKey is a key that can be stored and shown; "" where it is none.
func cleanKey(key string) string {
	if len(key) > maxKey {
		return ""
	}
	return work.Printable(key)
}
