package cloudsamples

import (
	"fmt"
	"time"
)

func (t *teller) issue() object {
	n := t.number()
	return object{
		"type": "issue", "id": n, "title": "The bell rings twice", "kind": "bug", "priority": "major", "state": "new",
		"content":  object{"raw": "At the end of a line the bell rings, and once more when the carriage is back.", "markup": "markdown"},
		"reporter": t.author(), "assignee": nil, "component": nil, "milestone": nil, "version": nil, "votes": 0,
		"created_on": t.ago(0), "updated_on": t.ago(0), "links": t.in(fmt.Sprintf("/issues/%d", n),
			fmt.Sprintf("/issues/%d/the-bell-rings-twice", n)),
	}
}

func (t *teller) issueCreated() object { return t.by(t.author(), object{"issue": t.issue()}) }

func (t *teller) issueUpdated() object {
	i := t.issue()
	i["created_on"], i["state"], i["assignee"] = t.ago(time.Hour), "open", t.reviewer()
	c := t.comment(81, "", fmt.Sprintf("/issues/%d", t.number()))
	c["content"] = object{"raw": nil, "markup": "markdown"}
	return t.by(t.reviewer(), object{"issue": i, "comment": c, "changes": object{
		"state": object{"old": "new", "new": "open"}, "assignee": object{"old": nil, "new": t.reviewer()},
	}})
}

func (t *teller) issueCommented() object {
	c := t.comment(82, "Only when the carriage stands at the last column.", fmt.Sprintf("/issues/%d", t.number()))
	return t.by(t.reviewer(), object{"issue": t.issue(), "comment": c})
}

func (t *teller) forked() object {
	fork := *t
	fork.Workspace = "ada-l"
	return t.by(t.author(), object{"fork": fork.shortRepository()})
}

// renamed is from the name that the place has to a new one; the repository in
// the body has it already.
func (t *teller) renamed() object {
	now := *t
	now.Repository = t.Repository + "-mk2"
	old, page := t.Workspace+"/"+t.Repository, t.shortRepository()["links"]
	return now.by(t.author(), object{"changes": object{
		"name":      object{"old": t.Repository, "new": now.Repository},
		"full_name": object{"old": old, "new": t.Workspace + "/" + now.Repository},
		"links":     object{"old": page, "new": now.shortRepository()["links"]},
	}})
}

func (t *teller) described() object {
	return t.by(t.author(), object{"changes": object{
		"description": object{"old": "", "new": "Computes with seven wheels"},
		"website":     object{"old": nil, "new": "https://engine.example.com/"},
	}})
}

func (t *teller) projectRenamed() object {
	p := t.project()
	p["workspace"] = t.workspace()
	return object{"actor": t.author(), "project": p, "changes": object{
		"name": object{"old": "Devices", "new": "Machines"}, "key": object{"old": "DEV", "new": "MACH"},
	}}
}

// transferred is from another workspace into that of the place.
func (t *teller) transferred() object {
	before := t.team("babbage")
	before["display_name"] = "Babbage & Sons"
	return t.by(t.author(), object{"previous_owner": before})
}
