package samples

import (
	"fmt"
	"time"
)

func (t *teller) push(by, in object, changes ...any) object {
	return object{"actor": by, "repository": in, "changes": changes}
}

func change(ref object, from, to, kind string) object {
	return object{"ref": ref, "refId": ref["id"], "fromHash": from, "toHash": to, "type": kind}
}

// commits is a line of commits, newest first, each the parent of the one
// before it.
func (t *teller) commits(hashes []string, messages []string, author object) []any {
	var all []any
	for i, message := range messages {
		at := t.ago(time.Duration(i*40+5) * time.Minute)
		c := shortCommit(hashes[i])
		c["author"], c["authorTimestamp"], c["committer"], c["committerTimestamp"] = author, at, author, at
		c["message"], c["parents"] = message, list{}
		if i+1 < len(hashes) {
			c["parents"] = list{shortCommit(hashes[i+1])}
		}
		all = append(all, c)
	}
	return all
}

func shortCommit(hash string) object { return object{"id": hash, "displayId": hash[:11]} }

func with(commits []any, push object) object {
	push["commits"], push["toCommit"] = commits, commits[0]
	return push
}

func (t *teller) branchCreated() object {
	name, title, _ := t.topic()
	tip, base := t.hash("first"), t.hash("base")
	return with(t.commits([]string{tip, base}, []string{title}, t.author()),
		t.push(t.author(), t.repository(), change(branch(name), noHash, tip, "ADD")))
}

func (t *teller) branchPushed() object {
	name, _, _ := t.topic()
	hashes := []string{t.hash("third"), t.hash("second"), t.hash("first again"), t.hash("first")}
	return with(t.commits(hashes, []string{
		"Name the wheels in the log\n\nThe number alone told nobody anything.",
		"Test the carry with all nines",
		"Fix the build on the old machine",
	}, t.author()), t.push(t.author(), t.repository(), change(branch(name), hashes[3], hashes[0], "UPDATE")))
}

// fileEdited is a commit made in the platform's editor.
func (t *teller) fileEdited() object {
	hashes := []string{t.hash("online"), t.hash("base")}
	return with(t.commits(hashes, []string{"README.md edited online with Bitbucket"}, t.other()),
		t.push(t.other(), t.repository(), change(branch("main"), hashes[1], hashes[0], "UPDATE")))
}

// severalPushed is one push of two branches; the platform lists the commits
// of both in one list.
func (t *teller) severalPushed() object {
	name, _, _ := t.topic()
	topic := []string{t.hash("fourth"), t.hash("third")}
	main := []string{t.hash("release"), t.hash("base")}
	// The author of a commit whom the platform has no user for.
	charles := object{"name": "Charles Babbage", "emailAddress": "charles@example.com"}
	commits := append(t.commits(topic, []string{"Oil the bearings"}, charles), t.commits(main, []string{"Prepare 2.1"}, t.author())...)
	return with(commits, t.push(t.author(), t.repository(),
		change(branch(name), topic[1], topic[0], "UPDATE"),
		change(branch("release/2.1"), main[1], main[0], "UPDATE")))
}

// personalPushed is as the versions before 8 send it: without commits.
func (t *teller) personalPushed() object {
	return t.push(t.author(), t.personal("notes"), change(branch("main"), t.hash("note"), t.hash("next note"), "UPDATE"))
}

func (t *teller) branchDeleted() object {
	name, _, _ := t.topic()
	return t.push(t.author(), t.repository(), change(branch(name), t.hash("third"), noHash, "DELETE"))
}

// tagged is what a push did to the story's release.
func (t *teller) tagged(from, to, kind string) object {
	return t.push(t.reviewer(), t.repository(), change(tag(fmt.Sprintf("v2.%d.0", t.number())), from, to, kind))
}

func (t *teller) tagCreated() object { return t.tagged(noHash, t.hash("merge"), "ADD") }
func (t *teller) tagMoved() object   { return t.tagged(t.hash("merge"), t.hash("fixed merge"), "UPDATE") }
func (t *teller) tagDeleted() object { return t.tagged(t.hash("fixed merge"), noHash, "DELETE") }
