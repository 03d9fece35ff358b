package samples

import (
	"fmt"
	"time"
)

func (t *teller) pullRequest() object {
	name, title, description := t.topic()
	end := func(branch object, commit string) object {
		branch["latestCommit"], branch["repository"] = t.hash(commit), t.repository()
		return branch
	}
	return object{
		"id": t.number(), "version": 2, "title": title, "description": description, "state": "OPEN", "open": true, "closed": false,
		"draft": false, "createdDate": t.ago(26 * time.Hour), "updatedDate": t.ago(0), "locked": false,
		"fromRef": end(branch(name), "third"), "toRef": end(branch("main"), "base"), "author": participant(t.author(), "AUTHOR"),
		"reviewers":    list{participant(t.reviewer(), "REVIEWER"), participant(t.other(), "REVIEWER"), participant(t.person(3), "REVIEWER")},
		"participants": list{participant(t.person(4), "PARTICIPANT"), participant(t.person(5), "PARTICIPANT")},
		"links":        self(fmt.Sprintf("/projects/ATL/repos/%s/pull-requests/%d", t.slug(), t.number())),
	}
}

func participant(user object, role string) object {
	return object{"user": user, "role": role, "approved": false, "status": "UNAPPROVED"}
}

func (t *teller) about(by object) object { return object{"actor": by, "pullRequest": t.pullRequest()} }

func (t *teller) pullRequestOnly() object { return t.about(t.author()) }

func (t *teller) reviewersChanged() object {
	body := t.about(t.author())
	body["addedReviewers"], body["removedReviewers"] = list{t.person(3)}, list{t.person(4)}
	return body
}

// review is a reviewer's changed mind about a pull request.
func (t *teller) review(before, now string) object {
	body := t.about(t.reviewer())
	p := body["pullRequest"].(object)["reviewers"].(list)[0].(object)
	p["lastReviewedCommit"], p["status"], p["approved"] = t.hash("third"), now, now == "APPROVED"
	body["participant"], body["previousStatus"] = p, before
	return body
}

func (t *teller) needsWork() object        { return t.review("UNAPPROVED", "NEEDS_WORK") }
func (t *teller) needsWorkRemoved() object { return t.review("NEEDS_WORK", "UNAPPROVED") }
func (t *teller) approved() object         { return t.review("UNAPPROVED", "APPROVED") }
func (t *teller) unapproved() object       { return t.review("APPROVED", "UNAPPROVED") }

func (t *teller) rescoped() object {
	body := t.about(t.author())
	body["previousFromHash"] = t.hash("second")
	return body
}

// modified is a pull request whose title was another, or which had another target.
func (t *teller) modified(titleBefore string, target object) object {
	_, _, description := t.topic()
	body := t.about(t.author())
	body["previousTitle"], body["previousDescription"], body["previousTarget"] = titleBefore, description, target
	return body
}

func (t *teller) edited() object {
	_, title, _ := t.topic()
	body := t.modified("WIP "+title, branch("main"))
	body["previousDraft"] = true
	return body
}

func (t *teller) retargeted() object {
	_, title, _ := t.topic()
	target := branch("release/2.1")
	target["latestCommit"] = t.hash("release")
	return t.modified(title, target)
}

func (t *teller) closed(state string, by object) object {
	body := t.about(by)
	p := body["pullRequest"].(object)
	p["state"], p["open"], p["closed"], p["closedDate"] = state, false, true, t.ago(0)
	return body
}

func (t *teller) merged() object {
	body := t.closed("MERGED", t.reviewer())
	body["pullRequest"].(object)["properties"] = object{"mergeCommit": shortCommit(t.hash("merge"))}
	return body
}

func (t *teller) declined() object { return t.closed("DECLINED", t.other()) }
