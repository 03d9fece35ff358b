package notify_test

import (
	"testing"

	"outrigger/internal/notify"
)

// build is a build of a commit; a pipeline's has another type first.
func build(state string, types ...notify.EventType) *notify.Event {
	return &notify.Event{
		Connection: "git", Types: append(types, notify.BuildStatusSet), Branch: "main",
		Project: notify.Project{Key: "ATL"}, Repository: notify.Repository{Key: "engine"},
		Build: &notify.Build{Commit: "0123", Key: "K", State: state},
	}
}

// Every expected commit status against every state of a build, each taken as a
// build status, as a pipeline, and as both.
func TestTheExpectedCommitStatus(t *testing.T) {
	const refused = "expectedCommitStatus"
	builds, pipelines := []notify.EventType{notify.BuildStatusSet}, []notify.EventType{notify.PipelineFailed}
	both := append(pipelines, builds...)
	for _, c := range []struct {
		name   string
		event  *notify.Event
		rule   []notify.EventType
		wanted map[notify.CommitStatus]string // by which member it is refused
	}{
		{"a success", build("SUCCESSFUL"), builds, map[notify.CommitStatus]string{"SUCCESS": "", "FAILURE": refused, "BOTH": ""}},
		{"a failure", build("FAILED"), builds, map[notify.CommitStatus]string{"SUCCESS": refused, "FAILURE": "", "BOTH": ""}},
		{"a stopped one", build("STOPPED"), builds, map[notify.CommitStatus]string{"SUCCESS": refused, "FAILURE": "", "BOTH": ""}},
		{"a cancelled one", build("CANCELLED"), builds, map[notify.CommitStatus]string{"SUCCESS": refused, "FAILURE": "", "BOTH": ""}},
		{"one in progress", build("INPROGRESS"), builds, map[notify.CommitStatus]string{"SUCCESS": refused, "FAILURE": refused, "BOTH": refused}},
		{"one of a later version", build("SKIPPED"), builds, map[notify.CommitStatus]string{"SUCCESS": refused, "FAILURE": refused, "BOTH": ""}},
		{"a pipeline's failure", build("FAILED", notify.PipelineFailed), pipelines, map[notify.CommitStatus]string{"SUCCESS": "", "FAILURE": "", "BOTH": ""}},
		{"a pipeline's failure as both", build("FAILED", notify.PipelineFailed), both, map[notify.CommitStatus]string{"SUCCESS": "", "FAILURE": "", "BOTH": ""}},
		{"a pipeline's failure as a build", build("FAILED", notify.PipelineFailed), builds, map[notify.CommitStatus]string{"SUCCESS": refused, "FAILURE": "", "BOTH": ""}},
		{"a pipeline's start as a build", build("INPROGRESS", notify.PipelineStarted), builds, map[notify.CommitStatus]string{"SUCCESS": refused, "FAILURE": refused, "BOTH": refused}},
		{"a pipeline's start as such", build("INPROGRESS", notify.PipelineStarted), []notify.EventType{notify.PipelineStarted, notify.BuildStatusSet},
			map[notify.CommitStatus]string{"SUCCESS": "", "FAILURE": "", "BOTH": ""}},
		{"another pipeline's success as both", build("SUCCESSFUL", notify.PipelineSucceeded), both, map[notify.CommitStatus]string{"SUCCESS": "", "FAILURE": refused, "BOTH": ""}},
		{"a pipeline's failure of a rule for other pipelines", build("FAILED", notify.PipelineFailed), []notify.EventType{notify.PipelineStopped},
			map[notify.CommitStatus]string{"SUCCESS": "expectedEvents", "FAILURE": "expectedEvents", "BOTH": "expectedEvents"}},
		{"a build without a status", &notify.Event{Connection: "git", Types: builds}, builds, map[notify.CommitStatus]string{"SUCCESS": "", "FAILURE": "", "BOTH": ""}},
	} {
		for status, want := range c.wanted {
			if got := refusedBy(t, of(notify.Filter{ExpectedCommitStatus: status}), c.event, c.rule...); got != want {
				t.Errorf("%s with %s: refused by %q, want %q", c.name, status, got, want)
			}
		}
	}
}

// A refusal says in words what was asked, and what the event had.
func TestACommitStatusIsExplainedInWords(t *testing.T) {
	for _, c := range []struct {
		status     notify.CommitStatus
		state      string
		wants, has string
	}{
		{notify.StatusSuccess, "FAILED", "builds that succeeded", "a build that failed"},
		{notify.StatusSuccess, "STOPPED", "builds that succeeded", "a build that was stopped"},
		{notify.StatusFailure, "SUCCESSFUL", "builds that failed or were stopped", "a build that succeeded"},
		{notify.StatusFailure, "SKIPPED", "builds that failed or were stopped", "a build in the state SKIPPED"},
		{notify.StatusBoth, "INPROGRESS", "builds that have ended", "a build in progress"},
	} {
		rule := &notify.Rule{Connection: "git", Enabled: true, Filter: notify.Filter{
			EventTypes: []notify.EventType{notify.BuildStatusSet}, ExpectedCommitStatus: c.status,
		}}
		compiled, err := notify.CompileRule(rule)
		if err != nil {
			t.Fatal(err)
		}
		e := build(c.state)
		want := notify.Reason{Member: "expectedCommitStatus", Wants: c.wants, Has: c.has}
		if got := compiled.Reason(compiled.Judge(e, nil), e); got != want {
			t.Errorf("%s of %s: %+v, want %+v", c.status, c.state, got, want)
		}
	}
}
