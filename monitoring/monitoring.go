// Package monitoring has what monitors Outrigger: alert rules for Prometheus
// and a dashboard for Grafana, both for the metrics of this version.
package monitoring

import _ "embed"

// Rules contains the alert rules, in YAML.
//
//go:embed rules.yml
var Rules []byte

// Dashboard is the dashboard, in JSON, generated from Rows; see dashboard_test.go.
//
//go:embed dashboard.json
var Dashboard []byte
