package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	remote "outrigger/internal/threads/client"
)

type threadsMigrateCmd struct {
	threadsFlags
	Hierarchy string `required:"" help:"The hierarchy: a JSON array of records or export pages; may be compressed with gzip or zip." placeholder:"FILE"`
	Mappings  string `required:"" help:"The id mappings report, a CSV file; may be compressed with gzip or zip." placeholder:"FILE"`
	DryRun    bool   `help:"Show what the migration would do, and keep nothing."`
	Accept    bool   `name:"accept-incomplete" help:"Load damaged or incomplete files as they are. Every result will say so."`
	Replace   bool   `help:"Replace unfinished uploads and loaded data that is not processed yet."`
}

func (c threadsMigrateCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	m := &migrating{cmd: c, Client: server, s: s}
	for _, f := range []struct{ kind, path string }{{threads.HierarchyFile, c.Hierarchy}, {threads.MappingsFile, c.Mappings}} {
		file, err := os.Open(f.path)
		if err != nil {
			return err
		}
		defer file.Close()
		m.files = append(m.files, kindFile{f.kind, file})
	}
	if c.DryRun {
		return m.dryRun(ctx)
	}
	return m.run(ctx)
}

// migrating is a migration that this command drives.
type migrating struct {
	*remote.Client
	cmd    threadsMigrateCmd
	s      streams
	files  []kindFile
	drafts []string
}

type kindFile struct {
	kind string
	*os.File
}

// run does the whole of it.
func (m *migrating) run(ctx context.Context) error {
	now, err := m.Status(ctx)
	if err == nil {
		err = m.free(now)
	}
	if err == nil {
		err = ctx.Err() // an interruption that came with the answer
	}
	if err != nil {
		return interrupted(err, "nothing was sent")
	}
	if err := m.send(ctx); err != nil {
		return interrupted(err, "the upload so far is kept for 24 hours; run the command again to continue")
	}
	p, err := m.preview(ctx)
	if err != nil {
		return interrupted(err, "the files are uploaded and kept for 24 hours; run the command again to continue")
	}
	for _, remark := range remarks(&p) {
		fmt.Fprintf(m.s.err, "outrigger: %s\n", remark)
	}
	if len(p.Incomplete) > 0 && !m.cmd.Accept {
		return errors.New("nothing was loaded; export the files again, or run the command again with --accept-incomplete to load them as they are")
	}
	if err := m.load(ctx); err != nil {
		return interrupted(err, "the server continues loading; check with outrigger threads status, then start or reset it")
	}
	if _, err := m.Operate(ctx, threads.OpStart, false); err != nil {
		return interrupted(err, "the data is loaded and processing may have started; check with outrigger threads status")
	}
	st, err := follow(ctx, m.s, m.Client)
	if err != nil {
		return interrupted(err, goesOn)
	}
	ended := m.cmd.ended(m.s, st)
	if st.Phase != threads.PhaseCompleted {
		return ended
	}
	bar := newBar(m.s, "comparing", unitRecords)
	v, err := m.Verified(ctx, bar.part)
	bar.end()
	if err != nil {
		return errors.Join(ended, interrupted(err, "the migration is complete but was not verified; run outrigger threads verify"))
	}
	if err := complete(v); err != nil {
		return coded{exitLook, errors.Join(ended, err)}
	}
	return ended
}

// goesOn is printed when the command is interrupted.
const goesOn = "processing continues on the server; outrigger threads status --wait follows it, outrigger threads stop pauses it"

// free says why the files could not be loaded, before they are sent.
func (m *migrating) free(now remote.Status) error {
	if _, err := now.Phase.After(threads.OpUpload); err != nil {
		hint := "clear it first: outrigger threads reset"
		if now.Phase == threads.PhaseProcessing {
			hint = "follow it: outrigger threads status --wait"
		}
		return fmt.Errorf("%w\n%s", err, hint)
	}
	if now.Phase != threads.PhaseEmpty && !m.cmd.Replace {
		return fmt.Errorf("another migration is loaded (%s); process it with outrigger threads start, clear it with outrigger threads reset, or replace it with --replace", now.Phase)
	}
	return nil
}

// send sends both files as drafts.
func (m *migrating) send(ctx context.Context) error {
	for _, f := range m.files {
		bar := newBar(m.s, "sending "+f.kind, unitBytes)
		draft, err := m.Upload(ctx, f.kind, f.File, m.cmd.Replace, bar.set)
		bar.end()
		if fault.Is(err, fault.Conflict) {
			return fmt.Errorf("%w\nuse --replace to replace it", err)
		}
		if err != nil {
			return err
		}
		m.drafts = append(m.drafts, draft.ID)
	}
	return nil
}

func (m *migrating) preview(ctx context.Context) (threads.Preview, error) {
	bar := newBar(m.s, "reading", unitRecords)
	defer bar.end()
	return m.Preview(ctx, bar.part)
}

// load takes the drafts over, and waits until they are.
func (m *migrating) load(ctx context.Context) error {
	if _, err := m.Operate(ctx, threads.OpUpload, m.cmd.Accept); err != nil {
		return err
	}
	bar := newBar(m.s, "loading", unitRecords)
	defer bar.end()
	st, err := m.Follow(ctx, nil, threads.PhaseLoading)
	if err == nil && st.Phase != threads.PhaseReady {
		err = fmt.Errorf("the files were not loaded; the migration is %s: %s", st.Phase, st.Message)
	}
	return err
}

// follow watches processing to its end.
func follow(ctx context.Context, s streams, server *remote.Client) (remote.Status, error) {
	bar := newBar(s, "processing", unitRecords)
	defer bar.end()
	said := ""
	return server.Follow(ctx, func(st remote.Status) {
		done := st.Progress.Processed
		if st.Undo != nil && st.Undo.Active {
			done = st.Progress.Total - done
		}
		bar.set(done, st.Progress.Total)
		if st.Message != "" && st.Message != said && st.Phase == threads.PhaseProcessing {
			fmt.Fprintf(s.err, "outrigger: %s\n", st.Message)
		}
		said = st.Message
	}, threads.PhaseProcessing, threads.PhaseLoading)
}

// ended prints the final status and gives its exit code.
func (f threadsFlags) ended(s streams, st remote.Status) error {
	if err := f.printStatus(s.out, st); err != nil {
		return err
	}
	switch {
	case st.Phase == threads.PhaseEmpty && st.Undo != nil:
		if st.Undo.Kept > 0 {
			return coded{exitLook, errors.New(st.Message)}
		}
		return nil
	case st.Phase != threads.PhaseCompleted:
		return fmt.Errorf("the migration is not complete; it is %s: %s", st.Phase, st.Message)
	}
	var look []error
	if st.Errors.Permanent > 0 {
		look = append(look, fmt.Errorf("%s not migrated; outrigger threads errors lists the reasons", amount(st.Errors.Permanent, "record")))
	}
	if len(st.Incomplete) > 0 {
		look = append(look, errIncomplete(st.Incomplete))
	}
	if look != nil {
		return coded{exitLook, errors.Join(look...)}
	}
	return nil
}

// errIncomplete says that data was loaded from files that are damaged.
func errIncomplete(sentences []string) error {
	return errors.New("the data was accepted as incomplete when it was loaded: " + strings.Join(sentences, " "))
}

// dryRun prints the preview, and leaves nothing behind.
func (m *migrating) dryRun(ctx context.Context) error {
	p, err := func() (p threads.Preview, err error) {
		if err := m.send(ctx); err != nil {
			return p, err
		}
		return m.preview(ctx)
	}()
	for _, id := range m.drafts {
		// Also after an interruption: then it is the last thing to be done.
		if failed := m.DeleteDraft(context.WithoutCancel(ctx), id); failed != nil {
			err = errors.Join(err, fmt.Errorf("remove a draft: %w", failed))
		}
	}
	if err != nil {
		return interrupted(err, "nothing was loaded")
	}
	if m.cmd.JSON {
		err = printJSON(m.s.out, p)
	} else {
		err = printPreview(m.s.out, &p)
	}
	if err != nil {
		return err
	}
	var lines []error
	for _, remark := range remarks(&p) {
		lines = append(lines, errors.New(remark))
	}
	if p.TotalErrors > 0 {
		lines = append(lines, fmt.Errorf("%d of %s will fail", p.TotalErrors, amount(p.Records, "record")))
	}
	if len(lines) > 0 {
		return coded{exitLook, errors.Join(lines...)}
	}
	return nil
}
