package watch

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/mailqueuetest"
)

func TestFigures(t *testing.T) {
	now := time.Date(2026, 2, 5, 16, 20, 11, 0, time.UTC)
	registry := prometheus.NewRegistry()
	f := NewFigures(registry, func() time.Time { return now })
	f.asked("node_1", mailqueue.Sizes{Size: 26, ErrorSize: 2}, nil)
	f.asked("jira_1", mailqueue.Sizes{Size: 1, ErrorSize: 0}, nil)
	f.asked("jira_1", mailqueue.Sizes{}, errors.New("down"))
	f.asked("jira_3", mailqueue.Sizes{}, errors.New("down"))
	now = now.Add(30 * time.Second)
	f.asked("node_1", mailqueue.Sizes{}, errors.New("down"))
	f.asked("node_1", mailqueue.Sizes{Size: 27, ErrorSize: 2}, nil)
	f.forget("jira_2")
	now = now.Add(45 * time.Second)
	want := `# HELP outrigger_mail_queue_error_messages Messages in the mail error queue when it was last read; those of Outrigger's own relay are counted now.
# TYPE outrigger_mail_queue_error_messages gauge
outrigger_mail_queue_error_messages{node="jira_1"} 0
outrigger_mail_queue_error_messages{node="node_1"} 2
# HELP outrigger_mail_queue_messages Messages in the mail queue when it was last read; those of Outrigger's own relay are counted now.
# TYPE outrigger_mail_queue_messages gauge
outrigger_mail_queue_messages{node="jira_1"} 1
outrigger_mail_queue_messages{node="node_1"} 27
# HELP outrigger_mail_queue_sample_age_seconds How long ago the queue was last read; it grows while its source does not answer.
# TYPE outrigger_mail_queue_sample_age_seconds gauge
outrigger_mail_queue_sample_age_seconds{node="jira_1"} 75
outrigger_mail_queue_sample_age_seconds{node="node_1"} 45
# HELP outrigger_mail_queue_sample_failed 1 when the source gave no sizes when it was asked last, else 0.
# TYPE outrigger_mail_queue_sample_failed gauge
outrigger_mail_queue_sample_failed{node="jira_1"} 1
outrigger_mail_queue_sample_failed{node="jira_3"} 1
outrigger_mail_queue_sample_failed{node="node_1"} 0
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	f.forget("jira_1")
	if n, err := testutil.GatherAndCount(registry); err != nil || n != 5 {
		t.Errorf("%d figures, %v", n, err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// A relay's figures are those of the moment, sample or not.
func TestARelayIsCountedWhenItIsAsked(t *testing.T) {
	registry := prometheus.NewRegistry()
	f := NewFigures(registry, time.Now)
	queue := &mailqueuetest.Source{}
	f.Count("node_1", queue)
	for n := range int64(10) {
		queue.Now = mailqueue.Sizes{Size: 1050 * n, ErrorSize: n}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if v := family.GetMetric()[0].GetGauge().GetValue(); family.GetName() == "outrigger_mail_queue_messages" && v != float64(1050*n) {
				t.Errorf("%v messages, want %d", v, 1050*n)
			}
		}
	}
}
