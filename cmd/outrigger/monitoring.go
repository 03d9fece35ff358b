package main

import "outrigger/monitoring"

type monitoringCmd struct {
	Rules     monitoringRulesCmd     `cmd:"" help:"Print alert rules for Prometheus, in YAML."`
	Dashboard monitoringDashboardCmd `cmd:"" help:"Print a dashboard for Grafana, in JSON."`
}

type monitoringRulesCmd struct{}

func (monitoringRulesCmd) Run(s streams) error {
	_, err := s.out.Write(monitoring.Rules)
	return err
}

type monitoringDashboardCmd struct{}

func (monitoringDashboardCmd) Run(s streams) error {
	_, err := s.out.Write(monitoring.Dashboard)
	return err
}
