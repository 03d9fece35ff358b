package app

import (
	"net/http"

	"outrigger/internal/threads"
	"outrigger/internal/threads/client"
	"outrigger/internal/threads/threadstest"
)

// useCloudSite has a migration refused by a cloud site, so that the pages and the
// report of one have something to show.
func (p *permissionTable) useCloudSite() {
	p.t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := &client.Client{Base: p.URL(), SignIn: asAdmin, HTTP: &http.Client{Transport: transport}}
	records, mappings := threadstest.Many(4, 4)
	sendFiles(p.t, c, records, mappings)
	operate(p.t, c, threads.OpUpload)
	follow(p.t, c, threads.PhaseReady, threads.PhaseLoading)
	operate(p.t, c, threads.OpStart)
	follow(p.t, c, threads.PhaseFailed, threads.PhaseProcessing)
	if status, body := get(p.t, p.URL()+"/rest/threaded-comments/1.0/migration/report", asAdmin); status != http.StatusOK {
		p.t.Errorf("the report: %d %s", status, body)
	}
}
