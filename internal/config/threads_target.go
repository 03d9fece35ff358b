package config

import (
	"strings"
	"time"

	"outrigger/internal/secret"
)

// The targets of parent maps.
const (
	TargetEmbedded  = "embedded"
	TargetJiraCloud = "jira-cloud"
)

// ThreadsCloud is the cloud site whose issue properties hold parent maps.
type ThreadsCloud struct {
	URL          string       `key:"url" else:"none"`
	User         string       `key:"user" else:"none"`
	Token        secret.Value `key:"token" else:"none"`
	TokenExpires Date         `key:"token_expires" else:"none"`
	Requests     int          `key:"requests" default:"4"`
	Timeout      Duration     `key:"timeout" default:"60s"`
}

func (ThreadsCloud) words() map[string]string {
	return map[string]string{
		"url": "The base URL of the cloud site, such as https://example.atlassian.net. For an API token with scopes, use " +
			"https://api.atlassian.com/ex/jira/CLOUD_ID.",
		"user":  "The e-mail address of the account that writes the issue properties. It needs permission to browse and edit the issues.",
		"token": "An API token of that account.",
		"token_expires": "The day on which the token ends, such as 2027-01-31; it lives for a year at most. The overview says so 30, 7 and " +
			"1 days before.",
		"requests": "The most requests that are sent at the same time.",
		"timeout":  "The time limit for one request, from 1s to 4m.",
	}
}

// maxCloudTimeout is less than the 5 minutes after which a worker that makes no
// progress is replaced.
const maxCloudTimeout = Duration(4 * time.Minute)

// maxCloudRequests is more than a site's limit by the second takes from one
// account; from there on, waits only get more.
const maxCloudRequests = 100

func (t *Threads) judgeTarget(j *judge) {
	j.oneOf("threads.target", t.Target, TargetEmbedded, TargetJiraCloud)
	if t.Target == TargetJiraCloud {
		t.JiraCloud.judge(j, "threads.jira_cloud")
	}
}

func (c *ThreadsCloud) judge(j *judge, key string) {
	if c.URL == "" {
		j.wrong(key+".url", "set the base URL of the cloud site, such as https://example.atlassian.net")
	} else {
		judgeURL(j, key+".url", c.URL)
	}
	if !strings.Contains(c.User, "@") || strings.ContainsAny(c.User, ": \t\r\n") {
		j.wrong(key+".user", "%q is not an e-mail address; sign in to the cloud site with the e-mail address of the account", c.User)
	}
	if strings.TrimSpace(c.Token.Reveal()) == "" {
		j.wrong(key+".token", "set the API token of the account")
	}
	if c.Timeout < Duration(time.Second) || c.Timeout > maxCloudTimeout {
		j.wrong(key+".timeout", "%s is out of range; use 1s to %s", c.Timeout, maxCloudTimeout)
	}
	if c.Requests < 1 || c.Requests > maxCloudRequests {
		j.wrong(key+".requests", "%d is out of range; use 1 to %d", c.Requests, maxCloudRequests)
	}
}
