package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"outrigger/internal/phrase"
	"outrigger/internal/threads"
	remote "outrigger/internal/threads/client"
	"outrigger/internal/threads/source"
)

type threadsCmd struct {
	Import       threadsImportCmd     `cmd:"" help:"Import a hierarchy on the self-hosted side."`
	Mirror       threadsMirrorCmd     `cmd:"" help:"Read the hierarchy from the host application's database now (threads.source: sql)."`
	Mappings     threadsMappingsCmd   `cmd:"" help:"Manage id mappings on the self-hosted side."`
	Export       threadsExportCmd     `cmd:"" help:"Download the hierarchy from a self-hosted server."`
	IDMappings   threadsIDMappingsCmd `cmd:"" name:"id-mappings" help:"Download the id mappings report from a self-hosted server."`
	Migrate      threadsMigrateCmd    `cmd:"" help:"Migrate: upload both files, load them, process them and wait until it ends."`
	Status       threadsStatusCmd     `cmd:"" help:"Show the progress of the migration."`
	Start        threadsOperateCmd    `cmd:"" help:"Start processing the loaded data."`
	Stop         threadsOperateCmd    `cmd:"" help:"Pause processing."`
	Continue     threadsOperateCmd    `cmd:"" help:"Continue processing after a pause or a failure."`
	Retry        threadsRetryCmd      `cmd:"" help:"Process again the records that the target refused."`
	Undo         threadsUndoCmd       `cmd:"" help:"Undo the migration: each issue that was written gets back what it had before."`
	Cancel       threadsCancelCmd     `cmd:"" help:"Cancel the migration. Threads already written stay."`
	Reset        threadsResetCmd      `cmd:"" help:"Clear the migration so that you can start a new one."`
	Errors       threadsErrorsCmd     `cmd:"" help:"Download the permanent errors as CSV."`
	Report       threadsReportCmd     `cmd:"" help:"Write the report of the migration: a page to print, or CSV."`
	Verify       threadsVerifyCmd     `cmd:"" help:"Compare the threads in the target with the files."`
	Backup       threadsBackupCmd     `cmd:"" help:"Back up every thread of the cloud side to a file."`
	Restore      threadsRestoreCmd    `cmd:"" help:"Restore the threads of a backup."`
	HelperScript helperScriptCmd      `cmd:"" help:"Write the helper script, which exports with curl, as a zip archive. Needs no server."`
}

type threadsMappingsCmd struct {
	Import mappingsImportCmd `cmd:"" help:"Import the mappings CSV of a cloud site on the self-hosted side."`
}

// threadsFlags are those of the commands that ask an Outrigger about threads.
type threadsFlags struct{ askFlags }

// threads makes the client of a server.
func (f threadsFlags) threads(s streams) (*remote.Client, error) {
	base, err := f.address()
	if err != nil {
		return nil, err
	}
	who, err := f.credentials()
	return threadsClient(s, base, who), err
}

// threadsClient asks a server, and says on standard error why it waits.
func threadsClient(s streams, base string, who credentials) *remote.Client {
	return &remote.Client{
		Base: base, SignIn: who.signIn, HTTP: http.DefaultClient,
		Notice: func(text string) { fmt.Fprintf(s.err, "outrigger: %s\n", text) },
	}
}

type threadsImportCmd struct {
	threadsFlags
	File string `arg:"" help:"A JSON array of records or export pages; may be compressed with gzip or zip."`
}

func (c threadsImportCmd) Run(ctx context.Context, s streams) error {
	return c.importFile(ctx, s, c.File, "records", func(server *remote.Client, file *os.File, progress func(int64, int64)) (imported, error) {
		out, err := server.ImportHierarchy(ctx, file, progress)
		return imported{out, out.ImportCounts, out.Total, out.Incomplete, out.Lines}, err
	})
}

type threadsMirrorCmd struct {
	threadsFlags
	AcceptRemoval bool  `help:"Accept that more than half of the records are removed."`
	Removes       int64 `help:"With --accept-removal: how many, as you were told. Nothing is done if it is another number." placeholder:"N"`
}

func (c threadsMirrorCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	m, err := server.Mirror(ctx, c.AcceptRemoval || c.Removes != 0, c.Removes)
	if err != nil {
		return interrupted(err, "the server continues reading")
	}
	err = s.say(c.JSON, m, "%s stored", phrase.Count(m.Records, "record"))
	switch {
	case err != nil || m.Mirror == nil || m.Mirror.Failure == "":
		return err
	case m.Mirror.Removes > 0:
		advice := fmt.Sprintf(" If threads.sql is right, run the command again with --accept-removal --removes=%d.", m.Mirror.Removes)
		return errors.New(m.Mirror.Failure + advice)
	}
	return errors.New(m.Mirror.Failure)
}

type mappingsImportCmd struct {
	threadsFlags
	CloudSite string `name:"cloud-site-url" required:"" help:"The URL of the cloud site that the mappings are for." placeholder:"URL"`
	File      string `arg:"" help:"A CSV file with the columns entityType, serverId and cloudId; may be compressed with gzip or zip."`
}

func (c mappingsImportCmd) Run(ctx context.Context, s streams) error {
	return c.importFile(ctx, s, c.File, "mappings", func(server *remote.Client, file *os.File, progress func(int64, int64)) (imported, error) {
		out, err := server.ImportMappings(ctx, c.CloudSite, file, progress)
		return imported{out, out.ImportCounts, out.Total, out.Incomplete, out.Lines}, err
	})
}

// imported is the answer to a file, and what is printed of it.
type imported struct {
	answer any
	threads.ImportCounts
	total      int64
	incomplete []string
	lines      []threads.Unreadable
}

// importFile sends a file and prints what became of it. What could not be read
// of it is said on standard error, and is exit code 2.
func (f threadsFlags) importFile(ctx context.Context, s streams, path, what string,
	send func(*remote.Client, *os.File, func(int64, int64)) (imported, error)) error {
	server, err := f.threads(s)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	bar := newBar(s, "sending", unitBytes)
	out, err := send(server, file, bar.set)
	bar.end()
	if err != nil {
		return interrupted(err, "the upload so far is kept; run the command again to send the rest")
	}
	err = s.say(f.JSON, out.answer, "%d added, %d replaced, %d unchanged; %d %s in total", out.Added, out.Replaced, out.Unchanged, out.total,
		what)
	if err != nil || len(out.incomplete) == 0 {
		return err
	}
	return coded{exitLook, errors.New(flaws(&out))}
}

// flaws says what is to be looked at in an imported file, a line each.
func flaws(out *imported) string {
	lines := slices.Clone(out.incomplete)
	for _, l := range out.lines {
		lines = append(lines, fmt.Sprintf("line %d: %s %s", l.Line, l.Reason, l.Text))
	}
	return strings.Join(lines, "\n")
}

// interrupted says what a signal left behind, in place of the context's error.
func interrupted(err error, left string) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; " + left)
	}
	return err
}

type helperScriptCmd struct {
	Out string `help:"The file to write; - writes to standard output." default:"threaded-comments-migration.sh.zip" placeholder:"FILE"`
}

func (c helperScriptCmd) Run(s streams) error {
	archive, err := source.Archive()
	if err != nil {
		return err
	}
	if c.Out == "-" {
		_, err = s.out.Write(archive)
		return err
	}
	if err := os.WriteFile(c.Out, archive, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "Wrote %s. Unzip it, run ./threaded-comments-migration.sh and choose 1) Export JSONs\n", c.Out)
	return err
}
