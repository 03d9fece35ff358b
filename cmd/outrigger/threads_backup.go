package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	remote "outrigger/internal/threads/client"
)

type threadsBackupCmd struct {
	threadsFlags
	Out string `required:"" help:"The file to write; it is there only when it is whole." placeholder:"FILE"`
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
		return interrupted(err, "there is no backup")
	}
	if c.JSON {
		return printJSON(s.out, out)
	}
	_, err = fmt.Fprintf(s.out, "%s of %s are in %s\n", amount(out.Relations, "relation"), amount(out.Issues, "issue"), c.Out)
	return err
}

type threadsRestoreCmd struct {
	threadsFlags
	yesFlag
	In   string `required:"" help:"The backup." placeholder:"FILE"`
	Mode string `help:"merge keeps what the backup does not have, replace takes it away." enum:"merge,replace" default:"merge" placeholder:"MODE"`
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
	question := "Write the threads of %d issues over those that are there?"
	if c.Mode == string(threads.RestoreReplace) {
		question = "Write the threads of %d issues, and take all others away?"
	}
	if err := c.sure(ctx, s, fmt.Sprintf(question, has.Issues)); err != nil {
		return err
	}
	sending, restoring := newBar(s, "sending", unitBytes), newBar(s, "restoring", unitRecords)
	out, err := server.Restore(ctx, file, threads.RestoreMode(c.Mode), sending.set, func(done, total int64) {
		sending.end()
		restoring.set(done, total)
	})
	sending.end()
	restoring.end()
	if err != nil {
		return interrupted(err, "what was sent is kept, and a restore that has begun goes on in the server")
	}
	if c.JSON {
		err = printJSON(s.out, out)
	} else {
		_, err = fmt.Fprintf(s.out, "%d of %d issues are restored\n", out.Done-out.Refused, out.Issues)
	}
	switch {
	case err != nil:
		return err
	case out.State != threads.JobDone:
		return fmt.Errorf("the backup is not restored: %s", out.Message)
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
		return interrupted(err, "the server goes on comparing; run it again for the result")
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
func complete(v remote.Verified) error {
	if v.Complete() {
		return nil
	}
	text := fmt.Sprintf("%d missing, %d not compared", v.Missing, v.NotCompared)
	if v.Different > 0 {
		text = fmt.Sprintf("%d missing, %d with another parent, %d not compared", v.Missing, v.Different, v.NotCompared)
	}
	return errors.New("the target does not have everything that the files hold: " + text)
}

func printVerified(s streams, v remote.Verified) error {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"Issues compared", number(v.Issues)}, {"Relations", number(v.Relations)}, {"As the files say", number(v.Present)},
		{"Missing", number(v.Missing)}, {"With another parent", number(v.Different)},
		{"Not compared", number(v.NotCompared)},
	}
	for _, d := range v.First {
		found := "nothing"
		if d.Found != 0 {
			found = number(d.Found)
		}
		rows = append(rows, []string{"Issue " + number(d.CloudIssueID), fmt.Sprintf("comment %d: parent %d, and there is %s", d.CommentID, d.Expected, found)})
	}
	return printRows(s.out, []string{"COMPARED", "COUNT"}, rows)
}
