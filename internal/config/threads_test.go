package config

import (
	"strings"
	"testing"

	"outrigger/internal/secret"
)

func TestValidateThreadsSource(t *testing.T) {
	sql := func(c *Config) {
		c.Threads.Source = ThreadsSQL
		c.Threads.SQL.URL, c.Threads.SQL.Query = secret.New("mysql://u:p4ss@db/jira"), "SELECT 1, 2, 3"
	}
	remote := func(c *Config) {
		c.Threads.Mappings.Remote = ThreadsRemote{URL: "https://jira.example.com", Token: secret.New("t")}
	}
	for _, test := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"a database", sql, ""},
		{"a remote host", remote, ""},
		{"an unknown source", func(c *Config) { c.Threads.Source = "csv" }, `threads.source: "csv" is not known; write file or sql`},
		{"nothing to read", func(c *Config) { c.Threads.Source = ThreadsSQL },
			"threads.sql.url: this is not a database URL; write it as postgres://user:password@host:5432/name or mysql://user:password@host:3306/name\n" +
				"threads.sql.query: set a query that returns issueId, commentId and parentCommentId"},
		{"another database", func(c *Config) { sql(c); c.Threads.SQL.URL = secret.New("oracle://u:p4ss@db/x") },
			"threads.sql.url: this is not a database URL; write it as postgres://user:password@host:5432/name or mysql://user:password@host:3306/name"},
		{"without a pause", func(c *Config) { sql(c); c.Threads.SQL.Interval = 0 }, "threads.sql.interval: 0s is too short; use at least 10s"},
		{"nobody", func(c *Config) { remote(c); c.Threads.Mappings.Remote.Token = secret.Value{} },
			"threads.mappings.remote: the server needs credentials; set either user and password, or token"},
		{"two people", func(c *Config) {
			remote(c)
			c.Threads.Mappings.Remote.User, c.Threads.Mappings.Remote.Password = "u", secret.New("p")
		}, "threads.mappings.remote: the server needs credentials; set either user and password, or token"},
		{"no host", func(c *Config) { remote(c); c.Threads.Mappings.Remote.URL = "jira" }, "threads.mappings.remote.url: this is not a URL; write it as https://host or https://host/path"},
		{"bytes for mebibytes", func(c *Config) { c.Threads.MaxUpload = 4096 }, "threads.max_upload: 4KiB is too small; use at least 1MiB"},
	} {
		t.Run(test.name, func(t *testing.T) { wantProblems(t, test.edit, test.want, "p4ss") })
	}
}

// wantProblems judges the defaults after an edit; what comes of it does not show
// a secret.
func wantProblems(t *testing.T, edit func(*Config), want, hidden string) {
	t.Helper()
	c := Default()
	edit(c)
	got := ""
	if err := c.Validate(); err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if strings.Contains(got, hidden) {
		t.Error("the secret is in the message")
	}
}
