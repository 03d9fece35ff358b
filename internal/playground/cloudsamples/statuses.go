package cloudsamples

import (
	"fmt"
	"time"
)

// status is the state of a build of a commit on main.
func (t *teller) status(state, key, name, description, url string, refname any) object {
	commit := t.commit("base", "root", "Prepare 2.1")
	return t.by(t.team(t.Workspace), object{"commit_status": object{
		"type": "build", "key": key, "name": name, "state": state, "description": description, "url": url, "refname": refname,
		"commit": commit, "repository": t.shortRepository(), "created_on": t.ago(3 * time.Minute), "updated_on": t.ago(0),
		"links": object{"commit": object{
			"href": "https://api.bitbucket.org/2.0/repositories/" + t.Workspace + "/" + t.Repository + "/commit/" + t.hash("base"),
		}},
	}})
}

// pipeline is a run of the platform's own Pipelines, which is a commit status
// like any other.
func (t *teller) pipeline(state string) object {
	n := t.number()
	return t.status(state, fmt.Sprint(3_343_800+n), fmt.Sprintf("Pipeline #%d for main", n), "",
		fmt.Sprintf("%s/addon/pipelines/home#!/results/%d", t.page(), n), "main")
}

func (t *teller) pipelineStarted() object   { return t.pipeline("INPROGRESS") }
func (t *teller) pipelineSucceeded() object { return t.pipeline("SUCCESSFUL") }
func (t *teller) pipelineFailed() object    { return t.pipeline("FAILED") }
func (t *teller) pipelineStopped() object   { return t.pipeline("STOPPED") }

// build is what a build server says; it need not know the branch.
func (t *teller) build(state, description string) object {
	return t.status(state, "ENGINE-TESTS", "Tests of the engine", description, fmt.Sprintf("https://ci.example.com/job/engine/%d/",
		t.number()), nil)
}

func (t *teller) buildStarted() object { return t.build("INPROGRESS", "212 tests to go") }
func (t *teller) buildFailed() object  { return t.build("FAILED", "3 of 212 tests failed") }

// spans are traces of a run, which the platform sends beside the commit status.
func (t *teller) spans() object {
	run := object{"name": "bbc.pipeline_run", "spanId": t.hash("span")[:16]}
	return t.by(t.team(t.Workspace), object{"resourceSpans": list{object{"scopeSpans": list{object{"spans": list{run}}}}}})
}
