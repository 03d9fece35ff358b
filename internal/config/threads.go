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
	Target    string          `key:"target" default:"embedded" doc:"Where parent maps go: embedded (Outrigger's own database) or jira-cloud (issue properties of a cloud site)."`
	JiraCloud ThreadsCloud    `key:"jira_cloud"`
	Source    string          `key:"source" default:"file" doc:"Where the self-hosted side has the hierarchy of comments from: file (imported) or sql (mirrored from the host application's database)."`
	SQL       ThreadsDatabase `key:"sql"`
	Mappings  ThreadsMappings `key:"mappings"`
	MaxUpload Size            `key:"max_upload" default:"4GiB" doc:"The largest hierarchy or mappings file that is taken; packed ones may unpack to 4 times that."`
}

// ThreadsDatabase is the database that the hierarchy is mirrored from.
type ThreadsDatabase struct {
	URL      secret.Value `key:"url" else:"none" doc:"The host application's database, as postgres://user:password@host:5432/name or mysql://user:password@host:3306/name. It is only read."`
	Query    string       `key:"query" else:"none" doc:"The query that yields the columns issueId, commentId and parentCommentId of every reply; names in double quotes, for both databases, such as SELECT \"ISSUE_ID\", \"COMMENT_ID\", \"PARENT_COMMENT_ID\" FROM \"AO_1A2B3C_COMMENT_INFO\". The six characters behind AO_ differ with the plugin."`
	Interval Duration     `key:"interval" default:"10m" doc:"How long after one mirroring the next begins; at least 10s."`
}

// ThreadsMappings is about the id mappings report.
type ThreadsMappings struct {
	Remote ThreadsRemote `key:"remote"`
}

// ThreadsRemote is a host that has the id mappings report itself.
type ThreadsRemote struct {
	URL      string       `key:"url" else:"none: mappings come from files" doc:"The base URL of a host whose id mappings report is passed on, for cloud sites that no mappings were imported for."`
	User     string       `key:"user" else:"none" doc:"The name to sign in to that host with."`
	Password secret.Value `key:"password" else:"none" doc:"The password of that user."`
	Token    secret.Value `key:"token" else:"none" doc:"A personal access token for that host, in place of user and password."`
}

func (c *Config) judgeThreads(j *judge) {
	t := &c.Threads
	t.judgeTarget(j)
	switch t.Source {
	case ThreadsFile:
	case ThreadsSQL:
		t.SQL.judge(j)
	default:
		j.wrong("threads.source", "%q is not known; write file or sql", t.Source)
	}
	if t.MaxUpload < minUpload {
		j.wrong("threads.max_upload", "%s is too little; take files of at least %s", t.MaxUpload, minUpload)
	}
	remote := &t.Mappings.Remote
	if remote.URL != "" {
		judgeURL(j, "threads.mappings.remote.url", remote.URL)
		byPassword := remote.User != "" && !remote.Password.IsZero()
		if byPassword == !remote.Token.IsZero() {
			j.wrong("threads.mappings.remote", "the host asks who reads; give user and password, or token")
		}
	}
}

func (d *ThreadsDatabase) judge(j *judge) {
	// The parser's own error would quote the URL with its password.
	u, err := url.Parse(d.URL.Reveal())
	if err != nil || u.Host == "" || u.Scheme != "postgres" && u.Scheme != "postgresql" && u.Scheme != "mysql" {
		j.wrong("threads.sql.url", "this is no database URL; write it as postgres://user:password@host:5432/name or mysql://user:password@host:3306/name")
	}
	if strings.TrimSpace(d.Query) == "" {
		j.wrong("threads.sql.query", "the query is missing; it yields issueId, commentId and parentCommentId")
	}
	if d.Interval < minInterval {
		j.wrong("threads.sql.interval", "%s is too short; leave the database alone for at least %s", d.Interval, minInterval)
	}
}
