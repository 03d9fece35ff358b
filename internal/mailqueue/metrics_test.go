package mailqueue

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestFigures(t *testing.T) {
	now := queuedAt
	registry := prometheus.NewRegistry()
	f := NewFigures(registry, func() time.Time { return now })
	f.Read("node_1", Sizes{26, 2})
	f.Read("jira_1", Sizes{1, 0})
	now = now.Add(30 * time.Second)
	f.Read("node_1", Sizes{27, 2})
	f.Forget("jira_2")
	now = now.Add(45 * time.Second)
	want := `# HELP outrigger_mail_queue_error_messages Messages in the mail error queue when it was last read.
# TYPE outrigger_mail_queue_error_messages gauge
outrigger_mail_queue_error_messages{node="jira_1"} 0
outrigger_mail_queue_error_messages{node="node_1"} 2
# HELP outrigger_mail_queue_messages Messages in the mail queue when it was last read.
# TYPE outrigger_mail_queue_messages gauge
outrigger_mail_queue_messages{node="jira_1"} 1
outrigger_mail_queue_messages{node="node_1"} 27
# HELP outrigger_mail_queue_sample_age_seconds How long ago the queue was last read; it grows while its source does not answer.
# TYPE outrigger_mail_queue_sample_age_seconds gauge
outrigger_mail_queue_sample_age_seconds{node="jira_1"} 75
outrigger_mail_queue_sample_age_seconds{node="node_1"} 45
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	f.Forget("jira_1")
	if n, err := testutil.GatherAndCount(registry); err != nil || n != 3 {
		t.Errorf("%d figures, %v", n, err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}
