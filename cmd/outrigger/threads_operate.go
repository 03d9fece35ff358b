package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"outrigger/internal/phrase"
	"outrigger/internal/threads"
)

// impatience is how long an interactive command retries.
const impatience = 10 * time.Second

type threadsStatusCmd struct {
	threadsFlags
	Wait bool `help:"Wait until processing ends or stops."`
}

func (c threadsStatusCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	if c.Wait {
		st, err := follow(ctx, s, server)
		if err != nil {
			return interrupted(err, goesOn)
		}
		return c.ended(s, st)
	}
	server.Patience = impatience
	st, err := server.Status(ctx)
	if err != nil {
		return err
	}
	return c.printStatus(s.out, st)
}

// printStatus writes how the migration stands.
func (f threadsFlags) printStatus(out io.Writer, st threads.MigrationStatus) error {
	if f.JSON {
		return printJSON(out, st)
	}
	status := string(st.Status)
	if status != string(st.Phase) {
		status += ", " + string(st.Phase)
	}
	if st.Undo != nil && st.Undo.Active {
		status += ", undoing"
	}
	allowed := make([]string, len(st.Allowed))
	for i, op := range st.Allowed {
		allowed[i] = string(op)
	}
	rows := [][]string{
		{"Status", status},
		{"Progress", fmt.Sprintf("%d / %d records (%d%%)", st.Progress.Processed, st.Progress.Total, st.Progress.Percent)},
		{"Chunks", fmt.Sprintf("%d / %d processed", st.Chunks.Processed, st.Chunks.Total)},
		{"Issues processed", strconv.FormatInt(st.IssuesProcessed, 10)},
		{"Parent maps created", strconv.FormatInt(st.ParentMapsCreated, 10)},
		{"Permanent errors", strconv.FormatInt(st.Errors.Permanent, 10)},
		{"Retryable errors", strconv.FormatInt(st.Errors.Retryable, 10)},
		{"Waits until", stamp(st.WaitUntil)},
		{"Message", dash(st.Message)},
		{"Allowed", strings.Join(allowed, ", ")},
	}
	if st.Rate > 0 {
		left := (time.Duration(st.SecondsLeft) * time.Second).String()
		rows = append(rows, []string{"Rate", fmt.Sprintf("%g records a second, %s left", st.Rate, left)})
	}
	if st.Verified != nil {
		rows = append(rows, []string{"Verified", st.Verified.String()})
	}
	for _, g := range st.Errors.Groups {
		text := fmt.Sprintf("%s: %s", g.Reason, phrase.Count(g.Records, "record"))
		if said := g.Answer.String(); said != "" {
			text += "; the target answered: " + said
		}
		rows = append(rows, []string{"Error", text})
	}
	if st.Undo != nil {
		for _, l := range st.Undo.Left {
			left := fmt.Sprintf("issue %d of the target: %s. %s", l.CloudIssueID, l.Reason, l.Answer)
			rows = append(rows, []string{"Left by undo", strings.TrimSpace(left)})
		}
	}
	for _, sentence := range st.Incomplete {
		rows = append(rows, []string{"Incomplete", sentence})
	}
	return printRows(out, []string{"MEMBER", "VALUE"}, rows)
}

// threadsOperateCmd does what the command is called.
type threadsOperateCmd struct{ threadsFlags }

func (c threadsOperateCmd) Run(ctx context.Context, s streams, k *kong.Context) error {
	return c.operate(ctx, s, threads.Operation(k.Selected().Name))
}

type threadsCancelCmd struct {
	threadsFlags
	yesFlag
}

func (c threadsCancelCmd) Run(ctx context.Context, s streams) error {
	if err := c.sure(ctx, s, "Cancel the migration? You cannot continue it afterwards."); err != nil {
		return err
	}
	return c.operate(ctx, s, threads.OpCancel)
}

type threadsResetCmd struct {
	threadsFlags
	yesFlag
}

func (c threadsResetCmd) Run(ctx context.Context, s streams) error {
	if err := c.sure(ctx, s, "Clear the migration's files, data, progress and errors? Threads already written stay."); err != nil {
		return err
	}
	return c.operate(ctx, s, threads.OpReset)
}

type threadsRetryCmd struct{ threadsFlags }

func (c threadsRetryCmd) Run(ctx context.Context, s streams) error {
	st, err := c.operateToEnd(ctx, s, threads.OpRetry, goesOn)
	if err != nil {
		return err
	}
	return c.ended(s, st)
}

type threadsUndoCmd struct {
	threadsFlags
	yesFlag
}

func (c threadsUndoCmd) Run(ctx context.Context, s streams) error {
	if err := c.sure(ctx, s, "Undo the migration? What it wrote is taken back, and its data, progress and errors are cleared."); err != nil {
		return err
	}
	st, err := c.operateToEnd(ctx, s, threads.OpUndo, "undoing continues on the server; outrigger threads status --wait follows it, "+
		"outrigger threads stop pauses it")
	if err != nil {
		return err
	}
	if st.Phase == threads.PhaseEmpty && st.Undo == nil { // nothing was written
		return c.printStatus(s.out, st)
	}
	return c.ended(s, st)
}

// operate does what an administrator asks, and prints how the migration stands
// then.
func (f threadsFlags) operate(ctx context.Context, s streams, op threads.Operation) error {
	server, err := f.threads(s)
	if err != nil {
		return err
	}
	server.Patience = impatience
	st, err := server.Operate(ctx, op, threads.Wish{})
	if err != nil {
		return err
	}
	return f.printStatus(s.out, st)
}

// operateToEnd does what an administrator asks, and waits until that has ended. left is what
// a signal leaves behind.
func (f threadsFlags) operateToEnd(ctx context.Context, s streams, op threads.Operation, left string) (threads.MigrationStatus, error) {
	server, err := f.threads(s)
	if err != nil {
		return threads.MigrationStatus{}, err
	}
	if _, err := server.Operate(ctx, op, threads.Wish{}); err != nil {
		return threads.MigrationStatus{}, err
	}
	st, err := follow(ctx, s, server)
	return st, interrupted(err, left)
}

type threadsErrorsCmd struct {
	threadsFlags
	Out string `help:"The file to write; - writes to standard output." default:"threads-errors.csv" placeholder:"FILE"`
}

func (c threadsErrorsCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	if c.Out == "-" {
		return printWhole(s, func(path string) error {
			_, err := server.Errors(ctx, path, nil)
			return err
		})
	}
	bar := newBar(s, "fetching", unitBytes)
	n, err := server.Errors(ctx, c.Out, bar.set)
	bar.end()
	if err != nil {
		return err
	}
	return s.say(c.JSON, map[string]int64{"errors": n}, "%s written to %s", phrase.Count(n, "error"), c.Out)
}

// printWhole prints what download writes to a file when all of it has come: a
// download that breaks off begins anew.
func printWhole(s streams, download func(path string) error) error {
	dir, err := os.MkdirTemp("", "outrigger-")
	if err != nil {
		return fmt.Errorf("create a temporary folder: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "download")
	if err := download(path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read the download: %w", err)
	}
	defer file.Close()
	_, err = io.Copy(s.out, file)
	return err
}
