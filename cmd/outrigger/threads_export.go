package main

import (
	"context"
	"errors"
	"os"
	"strings"

	remote "outrigger/internal/threads/client"

	"outrigger/internal/phrase"
)

// fromFlags say which server to fetch from, and as whom.
type fromFlags struct {
	From string `required:"" help:"The base URL of the server, such as https://jira.example.com." placeholder:"URL"`
	signInFlags
	JSON bool `help:"Print JSON."`
}

// threads makes the client of the server. The token in the environment is for
// the server in the environment, and for no other.
func (f fromFlags) threads(s streams) (*remote.Client, error) {
	base := strings.TrimRight(f.From, "/")
	if !strings.HasPrefix(base, "http://") && !strings.HasPrefix(base, "https://") {
		return nil, usage("--from takes a URL that begins with https:// or http://")
	}
	asked := f.User != "" || f.PasswordFile != "" || f.TokenFile != ""
	if !asked && base != strings.TrimRight(os.Getenv("OUTRIGGER_SERVER"), "/") {
		return nil, usage("no credentials: give --user and --password-file, or --token-file")
	}
	who, err := f.credentials()
	return threadsClient(s, base, who), err
}

type threadsExportCmd struct {
	fromFlags
	Out string `help:"The file to write." default:"comments_hierarchy_export.json" placeholder:"FILE"`
}

func (c threadsExportCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	bar := newBar(s, "exporting", unitRecords)
	out, err := server.Export(ctx, c.Out, bar.set)
	bar.end()
	if err != nil {
		return interrupted(err, "run the command again within an hour to continue")
	}
	err = s.say(c.JSON, out, "%s written to %s", phrase.Count(out.Records, "record"), c.Out)
	if err == nil && out.Changed {
		return coded{exitLook, errors.New("the hierarchy changed during the export, so records may be missing or repeated; export again when " +
			"nothing is being imported")}
	}
	return err
}

type threadsIDMappingsCmd struct {
	fromFlags
	CloudSite  string `name:"cloud-site-url" required:"" help:"The URL of the cloud site that the mappings are for." placeholder:"URL"`
	Out        string `help:"The file to write." default:"id-mappings.csv" placeholder:"FILE"`
	Invalidate bool   `name:"invalidate-cache" help:"Ask the server to generate the report again."`
}

func (c threadsIDMappingsCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	bar := newBar(s, "fetching", unitBytes)
	out, err := server.IDMappings(ctx, c.CloudSite, c.Invalidate, c.Out, bar.set)
	bar.end()
	if err != nil {
		return interrupted(err, "run the command again within an hour to continue")
	}
	return s.say(c.JSON, out, "%s written to %s; give outrigger threads migrate --site %s, too", phrase.Count(out.Lines, "mapping"), c.Out,
		c.CloudSite)
}
