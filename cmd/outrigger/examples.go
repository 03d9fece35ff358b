package main

import "strings"

// examples is the detail that kong prints below a command's help: command
// lines, indented so that they are not wrapped.
func examples(lines ...string) string {
	head := "Example:"
	if len(lines) > 1 {
		head = "Examples:"
	}
	return head + "\n\n    " + strings.Join(lines, "\n    ")
}

func (serveCmd) Help() string {
	return examples("outrigger serve --config outrigger.yaml") + `

SIGTERM and SIGINT stop the server. SIGHUP reads the configuration and the TLS files again:
log.level, trusted_proxies and notify.connections then hold without a restart.

SIGUSR2 restarts the server without refusing requests: it runs the program again with the same arguments,
passes its listening sockets to it, and ends when that serves. If the new process fails, the old one goes on.

A service manager can pass listening sockets named http and smtp (LISTEN_FDS), and is told when the server
is ready, reloads and stops (NOTIFY_SOCKET).`
}

func (configCheckCmd) Help() string { return examples("outrigger config check outrigger.yaml") }

func (configPrintCmd) Help() string { return examples("outrigger config print > outrigger.yaml") }

func (userAddCmd) Help() string {
	return examples(
		"outrigger users add ann --user admin --password-file admin-password",
		"outrigger users add ann --local --config outrigger.yaml")
}

func (userGrantCmd) Help() string {
	return examples("outrigger users grant ann PROJECT_ADMIN --connection code --project SHOP")
}

func (userRevokeCmd) Help() string { return examples("outrigger users revoke ann 7") }

func (groupGrantCmd) Help() string {
	return examples("outrigger groups grant shop-developers PROJECT_ADMIN --connection code --project SHOP")
}

func (groupRevokeCmd) Help() string { return examples("outrigger groups revoke shop-developers 7") }

func (tokenCreateCmd) Help() string {
	return examples("outrigger tokens create --scope monitoring --expires 90d prometheus")
}

func (attentionCmd) Help() string {
	return examples("outrigger attention --token-file monitoring-token") + `

A user sees what they may see on the overview. A token of scope monitoring sees everything.
If the server does not answer, the exit code is 1.`
}

func (monitoringRulesCmd) Help() string {
	return examples("outrigger monitoring rules > /etc/prometheus/rules/outrigger.yml")
}

func (monitoringDashboardCmd) Help() string {
	return examples("outrigger monitoring dashboard > outrigger-dashboard.json")
}

func (auditListCmd) Help() string { return examples("outrigger audit list --since 24h --who ann") }

func (auditExportCmd) Help() string {
	return examples("outrigger audit export --since 30d --out audit.csv")
}

func (backupMakeCmd) Help() string { return examples("outrigger backup monday.db") }

func (restoreCmd) Help() string {
	return examples("outrigger restore monday.db --config outrigger.yaml")
}

func (secretsRotateCmd) Help() string {
	return examples("outrigger secrets rotate --config outrigger.yaml")
}

func (secretsForgetCmd) Help() string {
	return examples("outrigger secrets forget --config outrigger.yaml")
}

func (nodeHandoverCmd) Help() string { return examples("outrigger nodes handover node_2 --to node_1") }

func (eventsCmd) Help() string {
	return examples("outrigger notify events --project SHOP --outcome not_taken --since 1h")
}

func (explainCmd) Help() string { return examples("outrigger notify explain 4711") }

func (deliveriesCmd) Help() string {
	return examples("outrigger notify deliveries --state failed", "outrigger notify deliveries 4711")
}

func (redeliverCmd) Help() string {
	return examples("outrigger notify redeliver 17 18", "outrigger notify redeliver --state failed --rule 3 --yes")
}

func (channelListCmd) Help() string { return examples("outrigger notify channels") }

func (channelShowCmd) Help() string {
	return examples("outrigger notify channels show 9f86d081884c7d65")
}

func (replaceURLCmd) Help() string {
	return examples("outrigger notify channels replace-url 9f86d081884c7d65 --url-file new-webhook-url")
}

func (retryChannelCmd) Help() string {
	return examples("outrigger notify retry-channel --which recent 9f86d081884c7d65")
}

func (reportListCmd) Help() string {
	return examples("outrigger notify reports list --project SHOP --repository api")
}

func (reportViewCmd) Help() string {
	return examples("outrigger notify reports view 3", "outrigger notify reports view 3 --format html > report.html")
}

func (reportTestCmd) Help() string { return examples("outrigger notify reports test 3") }

func (previewCmd) Help() string {
	return examples("outrigger notify preview PULL_REQUEST_OPENED --format html > card.html")
}

func (tryBranchCmd) Help() string {
	return examples("outrigger notify try-branch --dialect java -- 'release/.*' release/1.2 main")
}

func (sendEventCmd) Help() string {
	return examples("outrigger notify send-event --config outrigger.yaml --connection code --event pr:opened body.json")
}

func (mailListCmd) Help() string {
	return examples("outrigger mail list --state error --to @old.example")
}

func (mailShowCmd) Help() string {
	return examples("outrigger mail show 4711", "outrigger mail show 4711 --content > message.eml")
}

func (mailResendCmd) Help() string {
	return examples("outrigger mail resend 4711", "outrigger mail resend --all --yes")
}

func (mailDeleteCmd) Help() string {
	return examples("outrigger mail delete --state error --older-than 30d --yes")
}

func (threadsExportCmd) Help() string {
	return examples("outrigger threads export --from https://jira.example.com --user admin --password-file pw")
}

func (threadsIDMappingsCmd) Help() string {
	return examples("outrigger threads id-mappings --from https://jira.example.com --user admin --password-file pw " +
		"--cloud-site-url https://site.example.net")
}

func (threadsMigrateCmd) Help() string {
	return examples("outrigger threads migrate --hierarchy comments_hierarchy_export.json --mappings id-mappings.csv --dry-run")
}

func (threadsBackupCmd) Help() string { return examples("outrigger threads backup --out threads.gz") }

func (threadsRestoreCmd) Help() string {
	return examples("outrigger threads restore --in threads.gz --mode merge")
}

func (threadsImportCmd) Help() string {
	return examples("outrigger threads import comments_hierarchy_export.json")
}

func (mappingsImportCmd) Help() string {
	return examples("outrigger threads mappings import id-mappings.csv --cloud-site-url https://site.example.net")
}
