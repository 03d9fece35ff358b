package cloudsamples

import (
	"fmt"
	"time"
)

// pullRequest has abbreviated hashes, as the platform writes them there.
func (t *teller) pullRequest(state string) object {
	n, topic := t.number(), pick(topics[:], t.seq)
	end := func(branch, commit string) object {
		return object{"branch": object{"name": branch}, "commit": t.shortCommit(t.hash(commit)[:12]), "repository": t.shortRepository()}
	}
	return object{
		"type": "pullrequest", "id": n, "title": fmt.Sprintf("ATL-%d: %s", n, topic.title), "description": topic.description,
		"summary": object{"raw": topic.description, "markup": "markdown", "type": "rendered"}, "state": state, "draft": false, "queued": false,
		"author": t.author(), "source": end(t.branch(), "third"), "destination": end("main", "base"),
		"reviewers": list{t.reviewer(), t.other()}, "participants": list{},
		"merge_commit": nil, "closed_by": nil, "reason": "", "close_source_branch": true, "comment_count": 2, "task_count": 0,
		"created_on": t.ago(26 * time.Hour), "updated_on": t.ago(0),
		"links": t.in(fmt.Sprintf("/pullrequests/%d", n), fmt.Sprintf("/pull-requests/%d", n)),
	}
}

func (t *teller) about(by object, more object) object {
	body := t.by(by, more)
	if body["pullrequest"] == nil {
		body["pullrequest"] = t.pullRequest("OPEN")
	}
	return body
}

func (t *teller) opened() object {
	p := t.pullRequest("OPEN")
	p["created_on"] = t.ago(0)
	p["source"].(object)["commit"] = t.shortCommit(t.hash("second")[:12])
	return t.about(t.author(), object{"pullrequest": p})
}

func (t *teller) pushed() object { return t.about(t.author(), nil) }

func (t *teller) edited() object {
	p := t.pullRequest("OPEN")
	p["title"] = p["title"].(string) + ", and back"
	return t.about(t.author(), object{"pullrequest": p})
}

func (t *teller) merged() object {
	p := t.pullRequest("MERGED")
	p["merge_commit"], p["closed_by"] = t.shortCommit(t.hash("merge")[:12]), t.reviewer()
	p["participants"] = list{object{"type": "participant", "user": t.reviewer(), "role": "REVIEWER", "approved": true, "state": "approved",
		"participated_on": t.ago(time.Hour)}}
	return t.about(t.reviewer(), object{"pullrequest": p})
}

// declined comes from a fork that is gone.
func (t *teller) declined() object {
	p := t.pullRequest("DECLINED")
	p["closed_by"], p["reason"] = t.reviewer(), "The lever does it already."
	p["source"].(object)["repository"] = nil
	return t.about(t.reviewer(), object{"pullrequest": p})
}

func (t *teller) review() object { return object{"date": t.ago(0), "user": t.reviewer()} }

func (t *teller) approved() object {
	return t.about(t.reviewer(), object{"approval": t.review()})
}

func (t *teller) changesRequested() object {
	return t.about(t.reviewer(), object{"changes_request": t.review()})
}

// comment is one of the reviewer's, on a page.
func (t *teller) comment(id int64, text, page string) object {
	return object{
		"id": id, "user": t.reviewer(), "content": object{"raw": text, "markup": "markdown", "html": "<p>" + text + "</p>", "type": "rendered"},
		"deleted": false, "created_on": t.ago(0), "updated_on": t.ago(0),
		"links": t.in(fmt.Sprintf("/comments/%d", id), fmt.Sprintf("%s#comment-%d", page, id)),
	}
}

func (t *teller) prComment(text string) object {
	c := t.comment(3115+t.number(), text, fmt.Sprintf("/pull-requests/%d/_/diff", t.number()))
	c["type"], c["inline"] = "pullrequest_comment", object{"path": "engine/carry.go", "from": nil, "to": 41}
	return c
}

func (t *teller) commented() object {
	return t.about(t.reviewer(), object{"comment": t.prComment("What if the lever is _already_ up?")})
}

func (t *teller) answered() object {
	c := t.prComment("Then it stays there; `TestLeverUp` has it.")
	c["user"], c["parent"] = t.author(), object{"id": 3115}
	return t.about(t.author(), object{"comment": c})
}

func (t *teller) commentDeleted() object {
	c := t.prComment("")
	c["deleted"] = true
	return t.about(t.reviewer(), object{"comment": c})
}
