package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/phrase"
	"outrigger/internal/threads"
	remote "outrigger/internal/threads/client"
)

type threadsMigrateCmd struct {
	threadsFlags
	Hierarchy string `required:"" help:"The hierarchy: a JSON array of records or export pages, also as gzip or zip." placeholder:"FILE"`
	Mappings  string `required:"" help:"The id mappings report, a CSV file, also as gzip or zip." placeholder:"FILE"`
	DryRun    bool   `help:"Show what the migration would do, and keep nothing."`
	Accept    bool   `name:"accept-incomplete" help:"Load damaged or incomplete files as they are. Every result will say so."`
	Site      string `help:"${mapped_site}" placeholder:"URL"`
	OtherSite bool   `name:"accept-other-site" help:"Load id mappings that are for another site than the target."`
	Replace   bool   `help:"Replace uploads that are not loaded yet, also those of other users, and loaded data that is not processed yet."`
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
	drafts threads.Drafts // those of the files, as far as they are sent
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
	if p.Sites.Differ && !m.cmd.OtherSite {
		return errors.New("nothing was loaded; fetch the id mappings report for the target, or run the command again with --accept-other-site")
	}
	if len(p.Incomplete) > 0 && !m.cmd.Accept {
		return errors.New("nothing was loaded; export the files again, or run the command again with --accept-incomplete to load " +
			"them as they are")
	}
	if err := m.load(ctx); err != nil {
		return interrupted(err, "the server continues loading; check with outrigger threads status, then start or reset it")
	}
	if _, err := m.Operate(ctx, threads.OpStart, threads.Wish{Drafts: m.drafts}); err != nil {
		return interrupted(err, "the data is loaded and processing may have started; check with outrigger threads status")
	}
	st, err := follow(ctx, m.s, m.Client)
	if err != nil {
		return interrupted(err, goesOn)
	}
	if !st.Has(m.drafts) {
		return errOthers(st)
	}
	if st.Phase != threads.PhaseCompleted {
		return m.cmd.ended(m.s, st)
	}
	bar := newBar(m.s, "comparing", unitRecords)
	v, err := m.Verified(ctx, bar.part)
	bar.end()
	if err != nil {
		return errors.Join(m.cmd.ended(m.s, st), interrupted(err, "the migration is complete but was not verified; run outrigger threads verify"))
	}
	now, err = m.Status(ctx)
	if err != nil {
		return errors.Join(m.cmd.ended(m.s, st), interrupted(err, "the migration is complete; check with outrigger threads status"))
	}
	if !now.Has(m.drafts) {
		return errors.Join(m.cmd.ended(m.s, st), errors.New("the migration is complete, but other files were loaded before it was verified"))
	}
	ended := m.cmd.ended(m.s, now)
	if err := complete(v); err != nil {
		return coded{exitLook, errors.Join(ended, err)}
	}
	fmt.Fprintf(m.s.err, "outrigger: verified: %d of %s are in the target\n", v.Present, phrase.Count(v.Relations, "relationship"))
	return ended
}

// goesOn is printed when the command is interrupted.
const goesOn = "processing continues on the server; outrigger threads status --wait follows it, outrigger threads stop pauses it"

// errOthers is the end of a migration of which another one has taken the place.
func errOthers(st threads.MigrationStatus) error {
	if st.Data == nil {
		return fmt.Errorf("this migration was ended from elsewhere; it is %s, and no files are loaded", st.Phase)
	}
	return fmt.Errorf("other files were loaded meanwhile (hierarchy: %s; mappings: %s); whether these came to their end is not known",
		st.Data.Hierarchy, st.Data.Mappings)
}

// free says why the files could not be loaded, before they are sent.
func (m *migrating) free(now threads.MigrationStatus) error {
	if err := now.Allows(threads.OpUpload); err != nil {
		hint := "clear it first: outrigger threads reset"
		if now.Phase == threads.PhaseProcessing {
			hint = "follow it: outrigger threads status --wait"
		}
		return fmt.Errorf("%w\n%s", err, hint)
	}
	if now.Phase != threads.PhaseEmpty && !m.cmd.Replace {
		return fmt.Errorf("another migration is loaded (%s); process it with outrigger threads start, clear it with outrigger threads reset, "+
			"or replace it with --replace", now.Phase)
	}
	return nil
}

// send sends both files as drafts.
func (m *migrating) send(ctx context.Context) error {
	for _, f := range m.files {
		bar := newBar(m.s, "sending "+f.kind, unitBytes)
		site := ""
		if f.kind == threads.MappingsFile {
			site = m.cmd.Site
		}
		draft, err := m.Upload(ctx, site, f.kind, f.File, m.cmd.Replace, bar.set)
		bar.end()
		if fault.Is(err, fault.Conflict) {
			return fmt.Errorf("%w\nuse --replace to replace it", err)
		}
		if err != nil {
			return err
		}
		name := threads.Draft{ID: draft.ID}
		if name.SHA256, err = digest(f.File); err != nil {
			return err
		}
		if f.kind == threads.HierarchyFile {
			m.drafts.Hierarchy = name
		} else {
			m.drafts.Mappings = name
		}
	}
	return nil
}

func digest(file *os.File) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, info.Size())); err != nil {
		return "", fmt.Errorf("read the file again: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// preview is that of the files: an error where the server has read others.
func (m *migrating) preview(ctx context.Context) (threads.Previewed, error) {
	bar := newBar(m.s, "reading", unitRecords)
	defer bar.end()
	p, err := m.Preview(ctx, bar.part)
	if err == nil && !p.Drafts.Same(m.drafts) {
		err = fmt.Errorf("the files on the server are not those that were sent (hierarchy: %s; mappings: %s): others were sent meanwhile; "+
			"nothing was loaded",
			p.Drafts.Hierarchy, p.Drafts.Mappings)
	}
	return p, err
}

// load takes the drafts over, and waits until they are.
func (m *migrating) load(ctx context.Context) error {
	wish := threads.Wish{AcceptIncomplete: m.cmd.Accept, AcceptOtherSite: m.cmd.OtherSite, Drafts: m.drafts}
	if _, err := m.Operate(ctx, threads.OpUpload, wish); err != nil {
		return err
	}
	bar := newBar(m.s, "loading", unitRecords)
	defer bar.end()
	st, err := m.Follow(ctx, nil, threads.PhaseLoading)
	if err == nil && st.Data != nil && !st.Has(m.drafts) {
		err = errOthers(st)
	}
	if err == nil && st.Phase != threads.PhaseReady {
		err = fmt.Errorf("the files were not loaded; the migration is %s: %s", st.Phase, st.Message)
	}
	return err
}

// follow watches processing to its end.
func follow(ctx context.Context, s streams, server *remote.Client) (threads.MigrationStatus, error) {
	bar := newBar(s, "processing", unitRecords)
	defer bar.end()
	said := ""
	return server.Follow(ctx, func(st threads.MigrationStatus) {
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
func (f threadsFlags) ended(s streams, st threads.MigrationStatus) error {
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
		missing := phrase.Count(st.Errors.Permanent, "record")
		look = append(look, fmt.Errorf("%s not migrated; outrigger threads errors lists the reasons", missing))
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
	sent, err := func() (p threads.Previewed, err error) {
		if err := m.send(ctx); err != nil {
			return p, err
		}
		return m.preview(ctx)
	}()
	for _, id := range []int64{m.drafts.Hierarchy.ID, m.drafts.Mappings.ID} {
		if id == 0 {
			continue
		}
		// Also after an interruption: then it is the last thing to be done.
		if failed := m.DeleteDraft(context.WithoutCancel(ctx), id); failed != nil {
			err = errors.Join(err, fmt.Errorf("remove a draft: %w", failed))
		}
	}
	if err != nil {
		return interrupted(err, "nothing was loaded")
	}
	if m.cmd.JSON {
		err = printJSON(m.s.out, sent)
	} else {
		err = printPreview(m.s.out, &sent)
	}
	if err != nil {
		return err
	}
	var lines []error
	for _, remark := range remarks(&sent) {
		lines = append(lines, errors.New(remark))
	}
	if sent.TotalErrors > 0 {
		lines = append(lines, fmt.Errorf("%d of %s will fail", sent.TotalErrors, phrase.Count(sent.Records, "record")))
	}
	if len(lines) > 0 {
		return coded{exitLook, errors.Join(lines...)}
	}
	return nil
}
