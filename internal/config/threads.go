package config

import (
	"net/url"
	"strings"
	"time"

	"outrigger/internal/secret"
)

// Where the hierarchy of comments comes from.
const (
	ThreadsFile = "file"
	ThreadsSQL  = "sql"
)

// minInterval keeps the host's database from being read without a pause.
const minInterval = Duration(10 * time.Second)

// minUpload has room for any file of a small instance: a limit below it is a
// mistake in the unit.
const minUpload = Size(1 << 20)

// Threads is about threaded comment migration.
type Threads struct {
	Target    string          `key:"target" default:"embedded"`
	JiraCloud ThreadsCloud    `key:"jira_cloud"`
	Source    string          `key:"source" default:"file"`
	SQL       ThreadsDatabase `key:"sql"`
	Mappings  ThreadsMappings `key:"mappings"`
	MaxUpload Size            `key:"max_upload" default:"4GiB"`
}

func (Threads) words() map[string]string {
	return map[string]string{
		"target": "Where threads are written: embedded (Outrigger's own database) or jira-cloud (issue properties of a cloud site).",
		"source": "Where the self-hosted side gets the hierarchy of comments: file (imported) or sql (mirrored from the host application's " +
			"database).",
		"max_upload": "The largest hierarchy or mappings file that is accepted. Compressed files may unpack to 4 times that.",
	}
}

// ThreadsDatabase is the database that the hierarchy is mirrored from.
type ThreadsDatabase struct {
	URL      secret.Value `key:"url" else:"none"`
	Query    string       `key:"query" else:"none"`
	Interval Duration     `key:"interval" default:"10m"`
}

func (ThreadsDatabase) words() map[string]string {
	return map[string]string{
		"url": "The URL of the host application's database: postgres://user:password@host:5432/name or " +
			"mysql://user:password@host:3306/name. Outrigger only reads from it.",
		"query": "A query that returns issueId, commentId and parentCommentId of every reply. Put names in double quotes, for MySQL too: " +
			"SELECT \"ISSUE_ID\", \"COMMENT_ID\", \"PARENT_COMMENT_ID\" FROM \"AO_1A2B3C_COMMENT_INFO\". The six characters after AO_ depend " +
			"on the plugin.",
		"interval": "The pause between two readings of the database. At least 10s.",
	}
}

// ThreadsMappings is about the id mappings report.
type ThreadsMappings struct {
	Remote ThreadsRemote `key:"remote"`
}

// ThreadsRemote is a host that has the id mappings report itself.
type ThreadsRemote struct {
	URL      string       `key:"url" else:"none; mappings come from files"`
	User     string       `key:"user" else:"none"`
	Password secret.Value `key:"password" else:"none"`
	Token    secret.Value `key:"token" else:"none"`
}

func (ThreadsRemote) words() map[string]string {
	return map[string]string{
		"url":      "The base URL of a server whose id mappings report is passed on for cloud sites without imported mappings.",
		"user":     "The user name for signing in to that server.",
		"password": "The password of that user.",
		"token":    "A personal access token for that server, instead of user and password.",
	}
}

func (c *Config) judgeThreads(j *judge) {
	t := &c.Threads
	t.judgeTarget(j)
	j.oneOf("threads.source", t.Source, ThreadsFile, ThreadsSQL)
	if t.Source == ThreadsSQL {
		t.SQL.judge(j)
	}
	if t.MaxUpload < minUpload {
		j.wrong("threads.max_upload", "%s is too small; use at least %s", t.MaxUpload, minUpload)
	}
	remote := &t.Mappings.Remote
	if remote.URL != "" {
		judgeURL(j, "threads.mappings.remote.url", remote.URL)
		byPassword := remote.User != "" && !remote.Password.IsZero()
		if byPassword == !remote.Token.IsZero() {
			j.wrong("threads.mappings.remote", "the server needs credentials; set either user and password, or token")
		}
	}
}

func (d *ThreadsDatabase) judge(j *judge) {
	// The parser's own error would quote the URL with its password.
	u, err := url.Parse(d.URL.Reveal())
	if err != nil || u.Host == "" || u.Scheme != "postgres" && u.Scheme != "postgresql" && u.Scheme != "mysql" {
		j.wrong("threads.sql.url", "this is not a database URL; write it as postgres://user:password@host:5432/name or "+
			"mysql://user:password@host:3306/name")
	}
	if strings.TrimSpace(d.Query) == "" {
		j.wrong("threads.sql.query", "set a query that returns issueId, commentId and parentCommentId")
	}
	if d.Interval < minInterval {
		j.wrong("threads.sql.interval", "%s is too short; use at least %s", d.Interval, minInterval)
	}
}
