package main

import "context"

type threadsReportCmd struct {
	threadsFlags
	CSV bool   `name:"csv" help:"Write CSV instead of a page."`
	Out string `help:"The file to write; - is standard output. Default: threads-report.html, or .csv with --csv." placeholder:"FILE"`
}

func (c threadsReportCmd) Run(ctx context.Context, s streams) error {
	server, err := c.threads(s)
	if err != nil {
		return err
	}
	format, path := "html", c.Out
	if c.CSV {
		format = "csv"
	}
	switch path {
	case "-":
		return printWhole(s, func(path string) error { return server.Report(ctx, format, path) })
	case "":
		path = "threads-report." + format
	}
	if err := server.Report(ctx, format, path); err != nil {
		return err
	}
	return s.say(c.JSON, map[string]string{"file": path}, "Wrote the report to %s", path)
}
