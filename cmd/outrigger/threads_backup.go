package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/phrase"
	"outrigger/internal/threads"
	remote "outrigger/internal/threads/client"
)

type threadsBackupCmd struct {
	threadsFlags
	Out string `required:"" help:"The file to write. It appears only when the backup is complete." placeholder:"FILE"`
}

func (c threadsBackupCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	bar := newBar(s, "backing up", unitBytes)
	out, err := server.Backup(ctx, c.Out, bar.set)
	bar.end()
	if err != nil {
		return interrupted(err, "no backup was written")
	}
	return s.say(c.JSON, out, "%s of %s written to %s", phrase.Count(out.Relations, "relation"), phrase.Count(out.Issues, "issue"), c.Out)
}

type threadsRestoreCmd struct {
	threadsFlags
	yesFlag
	In            string `required:"" help:"The backup file." placeholder:"FILE"`
	ReplaceUpload bool   `help:"Replace a backup that is on the server and was not restored."`
	Mode          string `help:"${restore_mode}" enum:"merge,replace" default:"merge" placeholder:"MODE"`
}

func (c threadsRestoreCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	file, err := os.Open(c.In)
	if err != nil {
		return err
	}
	defer file.Close()
	has, err := remote.CheckBackup(file)
	if fault.Is(err, fault.Invalid) {
		return errors.New(fault.As(err).Message)
	}
	if err != nil {
		return err
	}
	question := "Restore the threads of %d issues over the current ones?"
	if c.Mode == string(threads.RestoreReplace) {
		question = "Restore the threads of %d issues and delete all others?"
	}
	if err := c.sure(ctx, s, fmt.Sprintf(question, has.Issues)); err != nil {
		return err
	}
	sending, restoring := newBar(s, "sending", unitBytes), newBar(s, "restoring", unitRecords)
	out, err := server.Restore(ctx, file, threads.RestoreMode(c.Mode), c.ReplaceUpload, sending.set, func(done, total int64) {
		sending.end()
		restoring.set(done, total)
	})
	sending.end()
	restoring.end()
	if err != nil {
		return interrupted(err, "the upload so far is kept; a restore that has started continues on the server")
	}
	err = s.say(c.JSON, out, "%d of %d issues restored", out.Done-out.Refused, out.Issues)
	switch {
	case err != nil:
		return err
	case out.State != threads.JobDone:
		return fmt.Errorf("the backup was not restored: %s", out.Message)
	case out.Refused > 0:
		return coded{exitLook, errors.New(out.Message)}
	}
	return nil
}

type threadsVerifyCmd struct{ threadsFlags }

func (c threadsVerifyCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	bar := newBar(s, "comparing", unitRecords)
	v, err := server.Verify(ctx, bar.part)
	bar.end()
	if err != nil {
		return interrupted(err, "the server continues comparing; run the command again for the result")
	}
	if c.JSON {
		err = printJSON(s.out, v)
	} else {
		err = printVerified(s, v)
	}
	var look []error
	if lacks := complete(v); lacks != nil {
		look = append(look, lacks)
	}
	if len(v.Incomplete) > 0 {
		look = append(look, errIncomplete(v.Incomplete))
	}
	if err != nil || look == nil {
		return err
	}
	return coded{exitLook, errors.Join(look...)}
}

// complete is nil where the target has everything that the files hold.
func complete(v threads.Verification) error {
	if v.Complete() {
		return nil
	}
	text := fmt.Sprintf("%d missing, %d not compared", v.Missing, v.NotCompared)
	if v.Different > 0 {
		text = fmt.Sprintf("%d missing, %d with another parent, %d not compared", v.Missing, v.Different, v.NotCompared)
	}
	return errors.New("the target does not match the files: " + text)
}

func printVerified(s streams, v threads.Verification) error {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"Issues compared", number(v.Issues)}, {"Relations", number(v.Relations)}, {"As in the files", number(v.Present)},
		{"Missing", number(v.Missing)}, {"With another parent", number(v.Different)},
		{"Not compared", number(v.NotCompared)},
	}
	for _, d := range v.First {
		found := "nothing"
		if d.Found != 0 {
			found = number(d.Found)
		}
		rows = append(rows, []string{"Issue " + number(d.CloudIssueID), fmt.Sprintf("comment %d: expected parent %d, found %s", d.CommentID,
			d.Expected, found)})
	}
	return printRows(s.out, []string{"COMPARED", "COUNT"}, rows)
}
