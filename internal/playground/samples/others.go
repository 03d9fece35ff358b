package samples

import "time"

func (t *teller) comment(by object, text string) object {
	return object{
		"id": t.number()*10 + 7, "version": 0, "text": text, "author": by, "createdDate": t.ago(time.Minute), "updatedDate": t.ago(0),
		"comments": list{}, "threadResolved": false, "severity": "NORMAL", "state": "OPEN", "tasks": list{},
	}
}

// commentOn is a body about the pull request and a comment on it.
func (t *teller) commentOn(by object, text string) (body, comment object) {
	body, comment = t.about(by), t.comment(by, text)
	body["comment"] = comment
	return body, comment
}

const question = "What happens if the lever is *already* up?\n\nI would test it with `carry_all(9999999)`."

func (t *teller) commented() object {
	body, _ := t.commentOn(t.reviewer(), question)
	return body
}

func (t *teller) commentEdited() object {
	body, comment := t.commentOn(t.reviewer(), "What happens if the lever is already up? I would test it.")
	body["previousComment"], comment["version"] = question, 1
	return body
}

func (t *teller) commentDeleted() object {
	body, comment := t.commentOn(t.reviewer(), question)
	body["commentParentId"] = comment["id"].(int64) - 1
	return body
}

func (t *teller) taskAdded() object {
	body, comment := t.commentOn(t.other(), "Write down how the lever is oiled.")
	comment["severity"] = "BLOCKER"
	return body
}

func (t *teller) commitCommented() object {
	return object{
		"actor": t.other(), "repository": t.repository(), "commit": t.hash("second"),
		"comment": t.comment(t.other(), "This one fixes it for good, thank you."),
	}
}

func (t *teller) commitCommentEdited() object {
	body := t.commitCommented()
	body["previousComment"] = "This one fixes it."
	return body
}

func (t *teller) forked() object {
	fork := t.personal(t.slug())
	fork["origin"] = t.repository()
	return object{"actor": t.author(), "repository": fork}
}

func (t *teller) repositoryRenamed() object {
	return object{"actor": t.other(), "old": repositoryIn(t.project(), "/projects/ATL", t.slug()+"-old"), "new": t.repository()}
}

func (t *teller) projectRenamed() object {
	before := t.project()
	before["key"], before["name"], before["links"] = "ATLAS", "Atlas machines", self("/projects/ATLAS")
	return object{"actor": t.other(), "old": before, "new": t.project()}
}

// mirrorSynchronized has no actor.
func (t *teller) mirrorSynchronized() object {
	name, _, _ := t.topic()
	return object{
		"repository": t.repository(), "changes": list{change(branch(name), t.hash("first"), t.hash("third"), "UPDATE")},
		"mirrorServer": object{"id": "B7QK-3M2N-9XW4-TTRA", "name": "Sydney mirror"}, "syncType": "INCREMENTAL", "refLimitExceeded": false,
	}
}

func (t *teller) secretDetected() object {
	at := func(line int, path string, in object) object {
		return object{"commitId": t.hash("third"), "line": line, "path": path, "ruleName": "Private key", "repository": in}
	}
	return object{"actor": t.author(), "secretLocations": list{
		at(3, "deploy/key.pem", t.repository()),
		at(41, "deploy/values_prod.yaml", t.repository()),
		at(7, "scratch.txt", t.personal("notes")),
	}}
}
