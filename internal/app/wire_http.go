package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	aboutpages "outrigger/internal/about/pages"
	"outrigger/internal/accounts/account"
	accountsapi "outrigger/internal/accounts/api"
	"outrigger/internal/attention"
	auditapi "outrigger/internal/audit/api"
	auditpages "outrigger/internal/audit/pages"
	"outrigger/internal/console"
	"outrigger/internal/console/docs"
	"outrigger/internal/notify"
	"outrigger/internal/reload"
	"outrigger/internal/rest"
)

// web is what answers requests.
type web struct {
	router *rest.Router
	pages  *console.Console
}

// openWeb makes the router and the console's shell; parts that follow add
// their routes and pages.
func (a *App) openWeb(context.Context) (err error) {
	a.router, err = rest.NewRouter(rest.Options{
		Identity: a.identity, Log: a.log, BaseURL: a.URL(), TrustedProxies: a.cfg.TrustedProxies, HSTS: a.cfg.HSTS, Metrics: a.registry,
	})
	if err != nil {
		return fmt.Errorf("make the router: %w", err)
	}
	hosts, err := rest.NewHosts(a.URL(), a.cfg.AllowedHosts)
	if err != nil {
		return err
	}
	a.router.OnlyHosts(hosts)
	if err := a.identity.UsePasskeys(a.URL()); err != nil {
		return err
	}
	a.pages, err = console.New(console.Options{Identity: a.identity, ProviderSignIn: a.identity, BaseURL: a.URL(), Version: a.o.Version,
		Log: a.log, Clock: a.clock})
	if err != nil {
		return fmt.Errorf("make the console: %w", err)
	}
	accountsapi.Routes(a.router, a.identity, a.connectionNames)
	a.pages.AddOverview(forAdmins(a.overviewNodes))
	a.pages.AddOverview(forAdmins(a.overviewDisk))
	a.pages.AddOverview(forAdmins(a.overviewExpiries))
	a.pages.AddOverview(a.overviewBegun)
	a.pages.AddOverview(forAdmins(a.overviewUnlisted))
	account.Register(a.pages, a.identity, a.clock)
	docs.Register(a.pages)
	aboutpages.Register(a.pages, a.o.Version)
	a.openUsers()
	(&reload.API{
		Reload: a.Reload, Level: func() string { return a.Config().Log.Level }, SetLevel: a.setLogLevel,
	}).Register(a.router)
	a.routeDiagnosis()
	(&attention.API{Node: a.nodeID, List: a.readAttention, Log: a.log}).Register(a.router)
	trail := &auditapi.API{DB: a.db}
	trail.Register(a.router)
	(&auditpages.Pages{
		API: trail, Clock: a.clock, Words: auditpages.Words{Label: notify.MemberLabel, Value: notify.MemberInWords},
	}).Register(a.pages)
	return a.routeMetrics()
}

// routeMetrics serves the figures of this node to Prometheus.
func (a *App) routeMetrics() error {
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(), a.buildInfo(), &stateFigures{a}, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := a.registry.Register(c); err != nil {
			return fmt.Errorf("register the figures of the process: %w", err)
		}
	}
	access := rest.Monitoring
	if a.cfg.Metrics.Public {
		access = rest.Anyone
	}
	figures := promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{
		Registry:      a.registry,
		ErrorHandling: promhttp.ContinueOnError, // what can be told while the database is away is wanted most then
	})
	rest.Handle[struct{}, string](a.router, rest.Route{Method: http.MethodGet, Path: "/metrics", Access: access, Own: true}, rest.Words{
		ID: "getMetrics", Tag: "operation", Summary: "Returns the figures of this node to Prometheus.", Answer: "Prometheus' text format.",
		Media: []string{"text/plain"},
		Text:  "Needs `ADMIN`, or a token of scope `monitoring`; with `metrics.public`, nothing.",
	}, func(w http.ResponseWriter, r *http.Request) error {
		figures.ServeHTTP(w, r)
		return nil
	})
	return nil
}

// serve lets requests in and says so to the other nodes: every part is there.
func (a *App) serve(ctx context.Context) error {
	pages, err := a.pages.Handler()
	if err != nil {
		return err
	}
	a.router.Fallback(pages)
	if err := a.cluster.Activate(ctx); err != nil {
		return fmt.Errorf("say that this node is ready: %w", err)
	}
	answers, err := rest.Compress(a.router, a.sentIn)
	if err != nil {
		return err
	}
	a.startupGate.serve(answers, a.checks...)
	if a.o.Wait != nil {
		go a.accept()
	}
	// First of all steps: live streams would hold up the others.
	a.steps.addStop("live pages", pagesLimit, a.pages.Stop)
	return nil
}

// sentIn reports whether what is at a path shows messages whose text others sent in:
// the length of a compressed answer would tell whether their guess is in it.
func (a *App) sentIn(path string) bool {
	path = strings.TrimPrefix(path, basePath(a.cfg.BaseURL))
	return strings.HasPrefix(path, "/hooks/") || strings.HasPrefix(path, "/mail/messages/") ||
		strings.HasPrefix(path, "/rest/") && strings.Contains(path, "/mail/messages/")
}
