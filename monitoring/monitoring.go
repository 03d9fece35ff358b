// Package monitoring is what others watch Outrigger with: alert rules for Prometheus
// and a dashboard for Grafana, both made for the figures of this version.
package monitoring

import _ "embed"

// Rules are the alert rules, in YAML.
//
//go:embed rules.yml
var Rules []byte

// Dashboard is the dashboard, in JSON. It is made from Panels; see dashboard_test.go.
//
//go:embed dashboard.json
var Dashboard []byte
