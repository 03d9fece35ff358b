package config

import (
	"testing"

	"outrigger/internal/secret"
)

func TestValidateThreadsTarget(t *testing.T) {
	cloud := func(edit func(*ThreadsCloud)) func(*Config) {
		return func(c *Config) {
			c.Threads.Target = TargetJiraCloud
			c.Threads.JiraCloud.URL = "https://example.atlassian.net"
			c.Threads.JiraCloud.User, c.Threads.JiraCloud.Token = "ann@example.com", secret.New("ATATT3x")
			edit(&c.Threads.JiraCloud)
		}
	}
	for _, test := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"the default", func(*Config) {}, ""},
		{"a cloud site", cloud(func(*ThreadsCloud) {}), ""},
		{"the gateway", cloud(func(c *ThreadsCloud) { c.URL = "https://api.atlassian.com/ex/jira/1324a887" }), ""},
		{"settings of a target that is not used", func(c *Config) { c.Threads.JiraCloud.URL = "?" }, ""},
		{"an unknown target", func(c *Config) { c.Threads.Target = "jira_cloud" }, `threads.target: "jira_cloud" is not known; write embedded or jira-cloud`},
		{"nothing said", func(c *Config) { c.Threads.Target = TargetJiraCloud },
			"threads.jira_cloud.url: set the base URL of the cloud site, such as https://example.atlassian.net\n" +
				"threads.jira_cloud.user: \"\" is not an e-mail address; sign in to the cloud site with the e-mail address of the account\n" +
				"threads.jira_cloud.token: set the API token of the account"},
		{"no scheme", cloud(func(c *ThreadsCloud) { c.URL = "example.atlassian.net" }),
			"threads.jira_cloud.url: this is not a URL; write it as https://host or https://host/path"},
		{"a password in the URL", cloud(func(c *ThreadsCloud) { c.URL = "https://ann:ATATT3x@example.atlassian.net" }),
			"threads.jira_cloud.url: a base URL has only a scheme, a host and optionally a path"},
		{"a user name", cloud(func(c *ThreadsCloud) { c.User = "ann" }),
			`threads.jira_cloud.user: "ann" is not an e-mail address; sign in to the cloud site with the e-mail address of the account`},
		{"a colon", cloud(func(c *ThreadsCloud) { c.User = "a:nn@example.com" }),
			`threads.jira_cloud.user: "a:nn@example.com" is not an e-mail address; sign in to the cloud site with the e-mail address of the account`},
		{"a token of spaces", cloud(func(c *ThreadsCloud) { c.Token = secret.New(" ") }), "threads.jira_cloud.token: set the API token of the account"},
		{"no requests", cloud(func(c *ThreadsCloud) { c.Requests = 0 }), "threads.jira_cloud.requests: 0 is out of range; use 1 to 100"},
		{"a flood", cloud(func(c *ThreadsCloud) { c.Requests = 101 }), "threads.jira_cloud.requests: 101 is out of range; use 1 to 100"},
	} {
		t.Run(test.name, func(t *testing.T) { wantProblems(t, test.edit, test.want, "ATATT3x") })
	}
}
