package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"outrigger/acceptance/stored"
	"outrigger/internal/playground"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/cloudsamples"
	"outrigger/internal/playground/samples"
)

const (
	codePath = "/rest/mtbs/1.0/configuration"
	chat     = "http://" + stored.ChatHost + "/channel/"
	project  = "ATL"
)

// connection is one that was made, with its webhook's secret.
type connection struct{ Name, WebhookSecret string }

// notifications are connections, hooks, rules on each level, reports and events:
// delivered, refused and set aside.
func (f *filler) notifications(ctx context.Context) {
	var code connection
	const connections = "/rest/outrigger/1.0/connections"
	used := object{"name": "code", "kind": "bitbucket-dc", "baseUrl": "http://" + stored.CodeHost, "token": stored.CodeToken}
	f.post(ctx, connections, used, &code)
	f.post(ctx, connections, object{"name": "spare", "kind": "bitbucket-dc", "baseUrl": "https://spare.example.com"}, nil)
	f.post(ctx, "/rest/outrigger/1.0/users/bob/grants",
		object{"permission": "PROJECT_ADMIN", "connection": "code", "projectKey": project}, nil)
	f.post(ctx, "/rest/outrigger/1.0/users/cyd/grants",
		object{"permission": "REPO_ADMIN", "connection": "code", "projectKey": project, "repositoryKey": "card-reader"}, nil)
	f.post(ctx, connections+"/code/hooks", object{"name": "atl", "projectKey": project}, nil)
	f.post(ctx, connections+"/code/hooks", object{"name": "reader", "projectKey": project, "repositoryKey": "card-reader"}, nil)
	ada := object{"connection": "code", "user": "ada", "teams": "ada@example.com", "slack": "U012AB3CD"}
	f.post(ctx, codePath+"/mentions", ada, nil)
	f.post(ctx, codePath+"/mentions", object{"connection": "code", "user": "alan", "teams": "alan@example.com"}, nil)
	f.rules(ctx)
	f.reports(ctx)
	f.platform = &playground.Platform{HookURL: "http://" + f.p.Addr() + "/hooks/code", Secret: code.WebhookSecret, Clock: time.Now}
	f.w.Break("broken-1")
	f.w.Break("broken-2")
	f.day(ctx, 1)
	f.day(ctx, 2)
	f.settled(ctx)
}

// day posts a day's events of a project, without those that rename it.
func (f *filler) day(ctx context.Context, seq int64) {
	for _, s := range samples.Samples() {
		if !strings.Contains(s.Name, "renamed") {
			accepted(s.Name, must(f.platform.Post(ctx, s, seq)))
		}
	}
}

func accepted(name string, status int) {
	if status != http.StatusAccepted {
		check(fmt.Errorf("%s is answered %d", name, status))
	}
}

// settled waits until what waits, waits on broken channels.
func (f *filler) settled(ctx context.Context) {
	await("some message is neither delivered nor on a broken channel", func() bool {
		var page struct {
			Items []struct {
				State   string
				Waiting int
			}
		}
		check(f.p.Ask(ctx, "GET", codePath+"/channels?limit=1000", nil, &page))
		for _, c := range page.Items {
			if (c.Waiting > 0) != (c.State == "broken") {
				return false
			}
		}
		return len(page.Items) > 0
	})
}

var (
	pullRequests = []string{"PULL_REQUEST_OPENED", "PULL_REQUEST_MERGED", "PULL_REQUEST_COMMENT_ADDED", "PULL_REQUEST_APPROVED"}
	refs         = []string{"BRANCH_CREATED", "BRANCH_DELETED", "TAG_CREATED"}
)

// rules are some of each level, on channels that work, are broken, and on shared ones.
func (f *filler) rules(ctx context.Context) {
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
		r["connection"], r["webhookUrl"] = "code", chat+r["channelName"].(string)
		var saved object
		f.post(ctx, codePath+"/filter", r, &saved)
		if r["name"] == "Atlas" {
			r["id"], r["ignoredUsers"] = saved["id"], []string{"ci-robot"} // a second version
			f.post(ctx, codePath+"/filter", r, nil)
		}
	}
}

// reports are due an hour before the time of day at which they are made, so not for
// the next 22 hours.
func (f *filler) reports(ctx context.Context) {
	ago := time.Now().UTC().Add(-time.Hour)
	for _, r := range []object{
		{"name": "Daily", "frequency": "DAILY"},
		{"name": "Weekly", "frequency": "WEEKLY", "day": strings.ToUpper(ago.Weekday().String())},
		{"name": "Off", "frequency": "DAILY", "enabled": false},
	} {
		r["connection"], r["projectKey"], r["repositoryKey"] = "code", playground.OpenProject, playground.OpenRepository
		r["webhookUrl"], r["channelName"] = chat+"reports", "reports"
		r["inactivityDays"], r["time"], r["timeZone"] = 7, ago.Format("15:04"), "UTC"
		f.post(ctx, codePath+"/reports", r, nil)
	}
}

// cloudPlatform is an authorised account, rules of it, and events.
func (f *filler) cloudPlatform(ctx context.Context) {
	const consumer, secret = "consumer-key", "consumer-secret"
	f.w.Cloud.SetConsumer(bitbucketcloud.Consumer{
		Key: consumer, Secret: secret, Name: "Outrigger", Callback: "http://" + f.p.Addr() + "/oauth/cloud",
		Scopes: []string{"account", "repository", "pullrequest", "webhook"},
	})
	var made connection
	f.post(ctx, "/rest/outrigger/1.0/connections", object{
		"name": "cloud", "kind": "bitbucket-cloud", "baseUrl": "http://" + stored.CloudHost,
		"oauthClientId": consumer, "oauthClientSecret": secret,
	}, &made)
	var begun struct{ Location string }
	f.post(ctx, "/rest/mtbs/1.0/cloud/authorizations?connection=cloud", nil, &begun)
	query, _ := f.w.Cloud.Grant(begun.Location, stored.CloudAccount)
	must(must(f.p.SignIn(ctx)).Send(ctx, "/oauth/cloud?"+query.Encode(), nil))
	at := cloudsamples.Engine
	for name, events := range map[string][]string{
		"Pull requests": {"PULL_REQUEST_OPENED", "PULL_REQUEST_MERGED"},
		"Pipelines":     {"PIPELINE_FAILED", "PIPELINE_STOPPED"},
	} {
		f.post(ctx, "/rest/mtbs/1.0/cloud/"+at.Workspace+"/"+at.Repository+"/rules?connection=cloud", object{
			"name": name, "webhookUrl": chat + "engine", "channelName": "engine", "expectedEvents": events, "expectedCommitStatus": "BOTH",
		}, nil)
	}
	f.w.Cloud.SetWebhook(bitbucketcloud.Webhook{
		Workspace: at.Workspace, Slug: at.Repository, URL: "http://" + f.p.Addr() + "/hooks/cloud",
		Active: true, Events: bitbucketcloud.EventKeys(), Secret: made.WebhookSecret,
	})
	f.cloudDay(ctx, 1)
}

func (f *filler) cloudDay(ctx context.Context, seq int64) {
	at := cloudsamples.Engine
	for _, s := range cloudsamples.Samples() {
		if !strings.HasPrefix(s.Name, "pull-request") && !strings.HasPrefix(s.Name, "pipeline") {
			continue
		}
		for _, sent := range f.w.Cloud.Send(ctx, at.Workspace, at.Repository, s.EventKey, s.Render(at, seq, time.Now())) {
			check(sent.Err)
			accepted(s.Name, sent.Status)
		}
	}
}

// waiting are messages behind a proxy that is not there.
func (f *filler) waiting(ctx context.Context) {
	f.settled(ctx)
	check(stored.SetProxy(ctx, f.p, "http://127.0.0.1:9"))
	f.day(ctx, 3)
	f.cloudDay(ctx, 2)
}
