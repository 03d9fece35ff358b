// Package diagnosis collects what a maintainer needs to find out what is wrong with a
// server, without secrets: versions, settings, figures, goroutines and the last lines
// of the log.
package diagnosis

import (
	"archive/zip"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"outrigger/internal/about"
	"outrigger/internal/config"
	"outrigger/internal/secret"
)

// Source is what a diagnosis is made from.
type Source struct {
	Version, Commit, Node, Database string

	Config  func() *config.Config
	Metrics prometheus.Gatherer
	Log     *Lines // nil: none is kept
	Clock   func() time.Time
}

// Write writes the diagnosis as a zip file. Of secrets it has nothing: neither those
// of the settings nor URLs beyond their host, wherever they stand.
func (s *Source) Write(to io.Writer) error {
	archive := zip.NewWriter(to)
	hide := masker(s.Config())
	for _, part := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"versions.txt", s.versions}, {"settings.txt", s.Config().PrintMasked}, {"metrics.txt", s.metrics},
		{"goroutines.txt", func(w io.Writer) error { return pprof.Lookup("goroutine").WriteTo(w, 1) }}, // 2 has arguments
		{"log.txt", s.log},
	} {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: part.name, Method: zip.Deflate, Modified: s.Clock().UTC()})
		if err != nil {
			return fmt.Errorf("adding %s: %w", part.name, err)
		}
		var text strings.Builder
		if err := part.write(&text); err != nil {
			fmt.Fprintf(&text, "\nThe rest is missing: %v\n", err) // what can be told is wanted most when something fails
		}
		if _, err := io.WriteString(file, hide(text.String())); err != nil {
			return fmt.Errorf("writing %s: %w", part.name, err)
		}
	}
	return archive.Close()
}

// urls also finds those that JSON escapes, once or more, as in what a chat platform
// answered, and those in which a secret was hidden already.
var urls = regexp.MustCompile(`(?i)\b(https?|postgres|postgresql|smtps?|socks5):(\\*/){2}(\\+(/|u[0-9a-f]{4})|<secret>|[^\s"<>\\])+`)

var escapes = regexp.MustCompile(`\\+(u0026)?|<secret>`)

// maskURL masks a URL that urls found.
func maskURL(found string) string {
	return secret.MaskURL(escapes.ReplaceAllStringFunc(found, func(part string) string {
		if strings.HasSuffix(part, "u0026") {
			return "&"
		}
		return ""
	}))
}

// masker returns what hides the secrets of the settings in a text, and of URLs all
// but the host.
func masker(c *config.Config) func(string) string {
	secrets := c.Secrets()
	slices.SortFunc(secrets, func(a, b secret.Value) int { return len(b.Reveal()) - len(a.Reveal()) }) // one may begin another
	var pairs []string
	for _, v := range secrets {
		quoted := strconv.Quote(v.Reveal()) // as it would stand in a line of the log
		pairs = append(pairs, v.Reveal(), v.String(), quoted[1:len(quoted)-1], v.String())
	}
	known := strings.NewReplacer(pairs...)
	return func(text string) string { return urls.ReplaceAllStringFunc(known.Replace(text), maskURL) }
}

func (s *Source) versions(w io.Writer) error {
	fmt.Fprintf(w, "version   %s\ncommit    %s\nnode      %s\ndatabase  %s\nsystem    %s/%s, %d processors\ntime      %s\n\n",
		s.Version, s.Commit, s.Node, s.Database, runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), s.Clock().UTC().Format(time.RFC3339))
	modules, err := about.Modules()
	for _, m := range modules {
		fmt.Fprintln(w, m.Path, m.Version)
	}
	return err
}

func (s *Source) metrics(w io.Writer) error {
	families, err := s.Metrics.Gather() // with an error, of those that could be asked
	for _, f := range families {
		if _, failed := expfmt.MetricFamilyToText(w, f); failed != nil {
			return failed
		}
	}
	return err
}

func (s *Source) log(w io.Writer) error {
	for _, line := range s.Log.All() {
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}
