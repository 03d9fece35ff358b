package cloudsamples

import (
	"fmt"
	"time"
)

// commit is one of the story's, on top of another.
func (t *teller) commit(name, parent, message string) object {
	c := t.shortCommit(t.hash(name))
	c["date"], c["message"] = t.now.Add(-time.Minute).UTC().Format("2006-01-02T15:04:05-07:00"), message+"\n"
	c["author"] = object{"type": "author", "raw": "Ada <ada@laptop.local>", "user": t.author()}
	c["parents"] = list{t.shortCommit(t.hash(parent))}
	return c
}

func (t *teller) shortCommit(hash string) object {
	return object{"type": "commit", "hash": hash, "links": t.in("/commit/"+hash, "/commits/"+hash)}
}

func (t *teller) branchAt(name string, target object) object {
	return object{"type": "branch", "name": name, "target": target, "links": t.in("/refs/branches/"+name, "/branch/"+name)}
}

// tagAt is an annotated tag, which has a message, a date and a tagger.
func (t *teller) tagAt(name string, target object) object {
	return object{
		"type": "tag", "name": name, "target": target, "links": t.in("/refs/tags/"+name, "/commits/tag/"+name),
		"message": "Release " + name + "\n", "date": t.ago(time.Minute), "tagger": object{"raw": "Ada <ada@laptop.local>", "user": t.author()},
	}
}

// change is of a ref; nil is one that was not there, or is gone. Commits are
// newest first, at most five of them.
func change(before, after any, truncated bool, commits ...any) object {
	c := object{"old": before, "new": after, "created": before == nil, "closed": after == nil, "forced": false, "truncated": truncated}
	if len(commits) > 0 {
		c["commits"] = commits
	}
	return c
}

func (t *teller) push(changes ...any) object {
	return t.by(t.author(), object{"push": object{"changes": changes}})
}

func (t *teller) branchCreated() object {
	first := t.commit("first", "base", "Draw the lever")
	return t.push(change(nil, t.branchAt(t.branch(), first), false, first))
}

func (t *teller) branchPushed() object {
	messages := []string{"Oil the bearings", "Name the wheels in the log", "Test with all nines", "Carry over <all> wheels & levers",
		"Lift the lever first"}
	var commits []any
	for i, m := range messages {
		commits = append(commits, t.commit(fmt.Sprint("push", i), fmt.Sprint("push", i+1), m))
	}
	return t.push(change(t.branchAt(t.branch(), t.commit("first", "base", "Draw the lever")), t.branchAt(t.branch(), commits[0].(object)),
		true, commits...))
}

func (t *teller) branchForced() object {
	now := t.commit("forced", "base", "Draw the lever, and mark its rest")
	c := change(t.branchAt(t.branch(), t.commit("first", "base", "Draw the lever")), t.branchAt(t.branch(), now), false, now)
	c["forced"] = true
	return t.push(c)
}

func (t *teller) fileEdited() object {
	now := t.commit("edited", "base", "README.md edited online with Bitbucket")
	return t.push(change(t.branchAt("main", t.commit("base", "root", "Prepare 2.1")), t.branchAt("main", now), false, now))
}

func (t *teller) severalPushed() object {
	now := t.commit("second", "base", "Note the lever in the handbook")
	old := t.commit("base", "root", "Prepare 2.1")
	return t.push(
		change(t.branchAt("main", old), t.branchAt("main", now), false, now),
		change(nil, t.tagAt("v2.1.1", now), false),
		change(t.branchAt("hotfix/2.1", old), nil, false),
	)
}

func (t *teller) branchDeleted() object {
	return t.push(change(t.branchAt(t.branch(), t.commit("third", "second", "Oil the bearings")), nil, false))
}

func (t *teller) tagCreated() object {
	return t.push(change(nil, t.tagAt("v2.1.0", t.commit("base", "root", "Prepare 2.1")), false))
}

func (t *teller) tagMoved() object {
	return t.push(change(t.tagAt("v2.1.0", t.commit("base", "root", "Prepare 2.1")),
		t.tagAt("v2.1.0", t.commit("second", "base", "Name the version")), false))
}

func (t *teller) tagDeleted() object {
	return t.push(change(t.tagAt("v2.1.0", t.commit("base", "root", "Prepare 2.1")), nil, false))
}

func (t *teller) commitCommented() object {
	hash := t.hash("base")
	c := t.comment(17, "Can this go into `release/2.0` too?", "/commits/"+hash)
	return t.by(t.reviewer(), object{"comment": c, "commit": t.shortCommit(hash)})
}
