package app

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/playground/samples"
	"outrigger/internal/secret"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// demoLatency is about what a cloud site takes: so that progress can be watched.
const demoLatency = 30 * time.Millisecond

// newDemoCloud has migrated threads go to a cloud site that is played at url.
func newDemoCloud(a *App, url string) *cloudsite.Page {
	const user = "migration@example.com"
	token := secret.Random(18)
	a.cfg.Threads.Target = config.TargetJiraCloud
	a.cfg.Threads.JiraCloud.URL, a.cfg.Threads.JiraCloud.User, a.cfg.Threads.JiraCloud.Token = url, user, secret.New(token)
	return &cloudsite.Page{Site: cloudsite.New(cloudsite.Options{
		User: user, Token: token, Limits: cloudsite.Documented(), Latency: demoLatency, Clock: a.clock,
	})}
}

// fillSource returns the self-hosted side the comments of the sample files.
func (a *App) fillSource(ctx context.Context) error {
	hierarchy, mappings := samples.Comments()
	imports := &source.Imports{Store: store.NewSource(a.db), MaxUpload: int64(a.cfg.Threads.MaxUpload)}
	if _, err := imports.Hierarchy(ctx, bytes.NewReader(hierarchy)); err != nil {
		return fmt.Errorf("import the demo's hierarchy: %w", err)
	}
	if _, err := imports.Mappings(ctx, samples.CommentsSite, bytes.NewReader(mappings)); err != nil {
		return fmt.Errorf("import the demo's mappings: %w", err)
	}
	return nil
}
