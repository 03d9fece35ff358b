package stored

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/playground"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/cloudsamples"
	"outrigger/internal/playground/samples"
)

const (
	codePath = "/rest/mtbs/1.0/configuration"
	project  = "ATL"
)

// connection is one that was made, with its webhook's secret.
type connection struct{ Name, WebhookSecret string }

// notifications are connections, hooks, rules on each level, reports and events:
// delivered, refused and set aside.
func (f *filler) notifications(ctx context.Context) error {
	var code connection
	const connections = "/rest/outrigger/1.0/connections"
	used := object{"name": "code", "kind": "bitbucket-dc", "baseUrl": "http://" + codeHost, "token": token}
	if err := f.post(ctx, connections, used, &code); err != nil {
		return err
	}
	spare := object{"name": "spare", "kind": "bitbucket-dc", "baseUrl": "https://spare.example.com"}
	if err := f.post(ctx, connections, spare, nil); err != nil {
		return err
	}
	for _, c := range []struct {
		path string
		body object
	}{
		{"/rest/outrigger/1.0/users/bob/grants", object{"permission": "PROJECT_ADMIN", "connection": "code", "projectKey": project}},
		{"/rest/outrigger/1.0/users/cyd/grants", object{
			"permission": "REPO_ADMIN", "connection": "code", "projectKey": project, "repositoryKey": "card-reader",
		}},
		{"/rest/outrigger/1.0/connections/code/hooks", object{"name": "atl", "projectKey": project}},
		{"/rest/outrigger/1.0/connections/code/hooks", object{"name": "reader", "projectKey": project, "repositoryKey": "card-reader"}},
		{codePath + "/mentions", object{"connection": "code", "user": "ada", "teams": "ada@example.com", "slack": "U012AB3CD"}},
		{codePath + "/mentions", object{"connection": "code", "user": "alan", "teams": "alan@example.com"}},
	} {
		if err := f.post(ctx, c.path, c.body, nil); err != nil {
			return err
		}
	}
	if err := f.rules(ctx); err != nil {
		return err
	}
	if err := f.reports(ctx); err != nil {
		return err
	}
	platform := &playground.Platform{HookURL: "http://" + f.p.Addr() + "/hooks/code", Secret: code.WebhookSecret, Clock: time.Now}
	f.day = func(ctx context.Context, seq int64) error { return day(ctx, platform, seq) }
	f.w.Break("broken-1")
	f.w.Break("broken-2")
	for seq := range int64(2) {
		if err := f.day(ctx, seq+1); err != nil {
			return err
		}
	}
	return Await(ctx, "some message is neither delivered nor on a broken channel", func() (bool, error) { return f.settled(ctx) })
}

// day posts a day's events of a project, without those that rename it.
func day(ctx context.Context, platform *playground.Platform, seq int64) error {
	for _, s := range samples.Samples() {
		if strings.Contains(s.Name, "renamed") {
			continue
		}
		if status, err := platform.Post(ctx, s, seq); err != nil || status != http.StatusAccepted {
			return errors.Join(fmt.Errorf("%s is answered %d", s.Name, status), err)
		}
	}
	return nil
}

// settled reports whether what waits, waits on broken channels.
func (f *filler) settled(ctx context.Context) (bool, error) {
	var page struct {
		Items []struct {
			Name, State string
			Waiting     int
		}
	}
	if err := f.p.Ask(ctx, "GET", codePath+"/channels?limit=1000", nil, &page); err != nil {
		return false, err
	}
	for _, c := range page.Items {
		if (c.Waiting > 0) != (c.State == "broken") {
			return false, fmt.Errorf("%+v", c)
		}
	}
	return len(page.Items) > 0, nil
}

var (
	pullRequests = []string{"PULL_REQUEST_OPENED", "PULL_REQUEST_MERGED", "PULL_REQUEST_COMMENT_ADDED", "PULL_REQUEST_APPROVED"}
	refs         = []string{"BRANCH_CREATED", "BRANCH_DELETED", "TAG_CREATED"}
)

// rules are some of each level, on channels that work, are broken, and on shared ones.
func (f *filler) rules(ctx context.Context) error {
	for _, r := range []object{
		{"name": "Every pull request", "channelName": "reviews", "eventTypes": pullRequests},
		{"name": "Releases", "channelName": "releases", "eventTypes": refs, "branchMask": `v?[0-9].*`},
		{"name": "Nothing now", "channelName": "releases", "eventTypes": pullRequests, "enabled": false},
		{"name": "At night later", "channelName": "nights", "eventTypes": []string{"COMMIT_COMMENT_ADDED"},
			"ignoredUsers": []string{"ci-robot"}, "format": "slack"},
		{"name": "Atlas", "channelName": "atlas", "projectKey": project, "eventTypes": append(refs, pullRequests...)},
		{"name": "Atlas, again", "channelName": "atlas", "projectKey": project, "eventTypes": pullRequests, "branchMask": `(?!release/).*`},
		{"name": "Atlas, refused", "channelName": "broken-1", "projectKey": project, "eventTypes": pullRequests},
		{"name": "Reader", "channelName": "reader", "projectKey": project, "repositoryKey": "card-reader",
			"eventTypes": append(refs, pullRequests...)},
		{"name": "Reader, main", "channelName": "reviews", "projectKey": project, "repositoryKey": "card-reader",
			"eventTypes": refs, "branches": []string{"main"}},
		{"name": "Reader, refused", "channelName": "broken-2", "projectKey": project, "repositoryKey": "card-reader", "eventTypes": refs},
	} {
		r["connection"], r["webhookUrl"] = "code", "http://"+ChatHost+"/channel/"+r["channelName"].(string)
		var saved object
		if err := f.post(ctx, codePath+"/filter", r, &saved); err != nil {
			return fmt.Errorf("rule %s: %w", r["name"], err)
		}
		if r["name"] != "Atlas" {
			continue
		}
		r["id"], r["ignoredUsers"] = saved["id"], []string{"ci-robot"} // a second version
		if err := f.post(ctx, codePath+"/filter", r, nil); err != nil {
			return err
		}
	}
	return nil
}

// reports are due an hour before the time of day at which they are made, so not for
// the next 22 hours.
func (f *filler) reports(ctx context.Context) error {
	ago := time.Now().UTC().Add(-time.Hour)
	for _, r := range []object{
		{"name": "Daily", "frequency": "DAILY"},
		{"name": "Weekly", "frequency": "WEEKLY", "day": strings.ToUpper(ago.Weekday().String())},
		{"name": "Off", "frequency": "DAILY", "enabled": false},
	} {
		r["connection"], r["projectKey"], r["repositoryKey"] = "code", playground.OpenProject, playground.OpenRepository
		r["webhookUrl"], r["channelName"] = "http://"+ChatHost+"/channel/reports", "reports"
		r["inactivityDays"], r["time"], r["timeZone"] = 7, ago.Format("15:04"), "UTC"
		if err := f.post(ctx, codePath+"/reports", r, nil); err != nil {
			return fmt.Errorf("report %s: %w", r["name"], err)
		}
	}
	return nil
}

// cloudPlatform is an authorised account, rules of it, and events.
func (f *filler) cloudPlatform(ctx context.Context) error {
	callback := "http://" + f.p.Addr() + "/oauth/cloud"
	f.w.cloud.SetConsumer(bitbucketcloud.Consumer{
		Key: consumer, Secret: secret, Name: "Outrigger", Callback: callback,
		Scopes: []string{"account", "repository", "pullrequest", "webhook"},
	})
	var made connection
	err := f.post(ctx, "/rest/outrigger/1.0/connections", object{
		"name": "cloud", "kind": "bitbucket-cloud", "baseUrl": "http://" + cloudHost, "oauthClientId": consumer, "oauthClientSecret": secret,
	}, &made)
	if err != nil {
		return err
	}
	var begun struct{ Location string }
	if err := f.post(ctx, "/rest/mtbs/1.0/cloud/authorizations?connection=cloud", nil, &begun); err != nil {
		return err
	}
	query, _ := f.w.cloud.Grant(begun.Location, account)
	browser, err := f.p.SignIn(ctx)
	if err != nil {
		return err
	}
	if _, err := browser.Send(ctx, "/oauth/cloud?"+query.Encode(), nil); err != nil {
		return err
	}
	at := cloudsamples.Engine
	for name, events := range map[string][]string{
		"Pull requests": {"PULL_REQUEST_OPENED", "PULL_REQUEST_MERGED"},
		"Pipelines":     {"PIPELINE_FAILED", "PIPELINE_STOPPED"},
	} {
		err := f.post(ctx, "/rest/mtbs/1.0/cloud/"+at.Workspace+"/"+at.Repository+"/rules?connection=cloud", object{
			"name": name, "webhookUrl": "http://" + ChatHost + "/channel/engine", "channelName": "engine",
			"expectedEvents": events, "expectedCommitStatus": "BOTH",
		}, nil)
		if err != nil {
			return fmt.Errorf("cloud rule %s: %w", name, err)
		}
	}
	f.w.cloud.SetWebhook(bitbucketcloud.Webhook{
		Workspace: at.Workspace, Slug: at.Repository, URL: "http://" + f.p.Addr() + "/hooks/cloud",
		Active: true, Events: bitbucketcloud.EventKeys(), Secret: made.WebhookSecret,
	})
	return f.cloudDay(ctx, 1)
}

func (f *filler) cloudDay(ctx context.Context, seq int64) error {
	at := cloudsamples.Engine
	for _, s := range cloudsamples.Samples() {
		if !strings.HasPrefix(s.Name, "pull-request") && !strings.HasPrefix(s.Name, "pipeline") {
			continue
		}
		for _, sent := range f.w.cloud.Send(ctx, at.Workspace, at.Repository, s.EventKey, s.Render(at, seq, time.Now())) {
			if sent.Err != nil || sent.Status != http.StatusAccepted {
				return errors.Join(fmt.Errorf("%s is answered %d", s.Name, sent.Status), sent.Err)
			}
		}
	}
	return nil
}

// waiting are messages behind a proxy that is not there.
func (f *filler) waiting(ctx context.Context) error {
	err := Await(ctx, "some message is neither delivered nor on a broken channel", func() (bool, error) { return f.settled(ctx) })
	if err != nil {
		return err
	}
	if err := SetProxy(ctx, f.p, NoProxy); err != nil {
		return err
	}
	return errors.Join(f.day(ctx, 3), f.cloudDay(ctx, 2))
}
