package samples

import (
	"fmt"
	"time"
)

func (t *teller) push(by *user, in *repository, changes ...change) webhook {
	for i := range changes {
		changes[i].RefID = changes[i].Ref.ID
	}
	return webhook{Actor: by, Repository: in, Changes: changes}
}

// commits is a line of commits, newest first, each the parent of the one
// before it.
func (t *teller) commits(hashes []string, messages []string, author any) []commit {
	var all []commit
	for i, message := range messages {
		at := t.ago(time.Duration(i*40+5) * time.Minute)
		c := commit{
			commitRef:          refTo(hashes[i]),
			Author:             author,
			AuthorTimestamp:    at,
			Committer:          author,
			CommitterTimestamp: at,
			Message:            message,
			Parents:            []commitRef{},
		}
		if i+1 < len(hashes) {
			c.Parents = []commitRef{refTo(hashes[i+1])}
		}
		all = append(all, c)
	}
	return all
}

func refTo(hash string) commitRef { return commitRef{ID: hash, DisplayID: hash[:11]} }

func (w webhook) with(commits []commit) webhook {
	w.Commits = commits
	w.ToCommit = &commits[0]
	return w
}

func (t *teller) branchCreated() webhook {
	name, title, _ := t.topic()
	tip, base := t.hash("first"), t.hash("base")
	w := t.push(t.author(), t.repository(), change{Ref: branch(name), FromHash: noHash, ToHash: tip, Type: "ADD"})
	return w.with(t.commits([]string{tip, base}, []string{title}, t.author()))
}

func (t *teller) branchPushed() webhook {
	name, _, _ := t.topic()
	hashes := []string{t.hash("third"), t.hash("second"), t.hash("first again"), t.hash("first")}
	w := t.push(t.author(), t.repository(), change{Ref: branch(name), FromHash: hashes[3], ToHash: hashes[0], Type: "UPDATE"})
	return w.with(t.commits(hashes, []string{
		"Name the wheels in the log\n\nThe number alone told nobody anything.",
		"Test the carry with all nines",
		"Fix the build on the old machine",
	}, t.author()))
}

// fileEdited is a commit made in the platform's editor.
func (t *teller) fileEdited() webhook {
	hashes := []string{t.hash("online"), t.hash("base")}
	w := t.push(t.other(), t.repository(), change{Ref: branch("main"), FromHash: hashes[1], ToHash: hashes[0], Type: "UPDATE"})
	return w.with(t.commits(hashes, []string{"README.md edited online with Bitbucket"}, t.other()))
}

// severalPushed is one push of two branches; the platform lists the commits
// of both in one list.
func (t *teller) severalPushed() webhook {
	name, _, _ := t.topic()
	topic := []string{t.hash("fourth"), t.hash("third")}
	main := []string{t.hash("release"), t.hash("base")}
	w := t.push(t.author(), t.repository(),
		change{Ref: branch(name), FromHash: topic[1], ToHash: topic[0], Type: "UPDATE"},
		change{Ref: branch("release/2.1"), FromHash: main[1], ToHash: main[0], Type: "UPDATE"})
	commits := t.commits(topic, []string{"Oil the bearings"}, gitAuthor{"Charles Babbage", "charles@example.com"})
	return w.with(append(commits, t.commits(main, []string{"Prepare 2.1"}, t.author())...))
}

// personalPushed is as the versions before 8 send it: without commits.
func (t *teller) personalPushed() webhook {
	return t.push(t.author(), t.personal(), change{Ref: branch("main"), FromHash: t.hash("note"), ToHash: t.hash("next note"), Type: "UPDATE"})
}

func (t *teller) branchDeleted() webhook {
	name, _, _ := t.topic()
	return t.push(t.author(), t.repository(), change{Ref: branch(name), FromHash: t.hash("third"), ToHash: noHash, Type: "DELETE"})
}

func (t *teller) release() ref { return tag(fmt.Sprintf("v2.%d.0", t.number())) }

func (t *teller) tagCreated() webhook {
	return t.push(t.reviewer(), t.repository(), change{Ref: t.release(), FromHash: noHash, ToHash: t.hash("merge"), Type: "ADD"})
}

func (t *teller) tagMoved() webhook {
	return t.push(t.reviewer(), t.repository(), change{Ref: t.release(), FromHash: t.hash("merge"), ToHash: t.hash("fixed merge"),
		Type: "UPDATE"})
}

func (t *teller) tagDeleted() webhook {
	return t.push(t.reviewer(), t.repository(), change{Ref: t.release(), FromHash: t.hash("fixed merge"), ToHash: noHash, Type: "DELETE"})
}
