package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// explainCommands gives commands the detail that kong prints below their help.
func explainCommands(model *kong.Application) {
	details := details()
	for _, command := range model.Leaves(false) {
		command.Detail = details[command.Path()]
	}
}

// examples are command lines, indented so that they are not wrapped.
func examples(lines ...string) string {
	head := "Example:"
	if len(lines) > 1 {
		head = "Examples:"
	}
	return head + "\n\n    " + strings.Join(lines, "\n    ")
}

// details are examples of commands, and what else there is to say of them.
func details() map[string]string {
	return map[string]string{
		"serve": examples("outrigger serve --config outrigger.yaml") + `

SIGTERM and SIGINT stop the server. SIGHUP reads the configuration and the TLS files again:
log.level, trusted_proxies and notify.connections then hold without a restart.

SIGUSR2 restarts the server without refusing requests: it runs the program again with the same arguments,
passes its listening sockets to it, and ends when that serves. If the new process fails, the old one goes on.

A service manager can pass listening sockets named http and smtp (LISTEN_FDS), and is told when the server
is ready, reloads and stops (NOTIFY_SOCKET).`,
		"config check": examples("outrigger config check outrigger.yaml"),
		"config print": examples("outrigger config print > outrigger.yaml"),
		"users add": examples(
			"outrigger users add ann --user admin --password-file admin-password",
			"outrigger users add ann --local --config outrigger.yaml"),
		"users grant":   examples("outrigger users grant ann PROJECT_ADMIN --connection code --project SHOP"),
		"users revoke":  examples("outrigger users revoke ann 7"),
		"groups grant":  examples("outrigger groups grant shop-developers PROJECT_ADMIN --connection code --project SHOP"),
		"groups revoke": examples("outrigger groups revoke shop-developers 7"),
		"tokens create": examples("outrigger tokens create --scope monitoring --expires 90d prometheus"),
		"attention": examples("outrigger attention --token-file monitoring-token") + `

A user sees what they may see on the overview. A token of scope monitoring sees everything.
If the server does not answer, the exit code is 1.`,
		"healthcheck": "It asks the server of the same configuration on this machine, without signing in. In a container it is the " +
			"health check.",
		"monitoring rules":     examples("outrigger monitoring rules > /etc/prometheus/rules/outrigger.yml"),
		"monitoring dashboard": examples("outrigger monitoring dashboard > outrigger-dashboard.json"),
		"audit list":           examples("outrigger audit list --since 24h --who ann"),
		"audit export":         examples("outrigger audit export --since 30d --out audit.csv"),
		"backup make":          examples("outrigger backup monday.db"),
		"restore":              examples("outrigger restore monday.db --config outrigger.yaml"),
		"secrets rotate":       examples("outrigger secrets rotate --config outrigger.yaml"),
		"secrets forget":       examples("outrigger secrets forget --config outrigger.yaml"),
		"nodes handover":       examples("outrigger nodes handover node_2 --to node_1"),

		"notify events":     examples("outrigger notify events --project SHOP --outcome not_taken --since 1h"),
		"notify explain":    examples("outrigger notify explain 4711"),
		"notify deliveries": examples("outrigger notify deliveries --state failed", "outrigger notify deliveries 4711"),
		"notify redeliver": examples(
			"outrigger notify redeliver 17 18",
			"outrigger notify redeliver --state failed --rule 3 --yes"),
		"notify channels list": examples("outrigger notify channels"),
		"notify channels show": examples("outrigger notify channels show 9f86d081884c7d65"),
		"notify channels replace-url": examples(
			"outrigger notify channels replace-url 9f86d081884c7d65 --url-file new-webhook-url"),
		"notify retry-channel": examples("outrigger notify retry-channel --which recent 9f86d081884c7d65"),
		"notify reports list":  examples("outrigger notify reports list --project SHOP --repository api"),
		"notify reports view": examples(
			"outrigger notify reports view 3",
			"outrigger notify reports view 3 --format html > report.html"),
		"notify reports test": examples("outrigger notify reports test 3"),
		"notify preview":      examples("outrigger notify preview PULL_REQUEST_OPENED --format html > card.html"),
		"notify try-branch":   examples("outrigger notify try-branch --dialect java -- 'release/.*' release/1.2 main"),
		"notify send-event": examples(
			"outrigger notify send-event --config outrigger.yaml --connection code --event pr:opened body.json"),

		"mail list":   examples("outrigger mail list --state error --to @old.example"),
		"mail show":   examples("outrigger mail show 4711", "outrigger mail show 4711 --content > message.eml"),
		"mail resend": examples("outrigger mail resend 4711", "outrigger mail resend --all --yes"),
		"mail delete": examples("outrigger mail delete --state error --older-than 30d --yes"),

		"threads export": examples("outrigger threads export --from https://jira.example.com --user admin --password-file pw"),
		"threads id-mappings": examples("outrigger threads id-mappings --from https://jira.example.com --user admin --password-file pw " +
			"--cloud-site-url https://site.example.net"),
		"threads migrate": examples(
			"outrigger threads migrate --hierarchy comments_hierarchy_export.json --mappings id-mappings.csv --dry-run"),
		"threads backup":  examples("outrigger threads backup --out threads.gz"),
		"threads restore": examples("outrigger threads restore --in threads.gz --mode merge"),
		"threads import":  examples("outrigger threads import comments_hierarchy_export.json"),
		"threads mappings import": examples(
			"outrigger threads mappings import id-mappings.csv --cloud-site-url https://site.example.net"),

		"completion": examples(
			"outrigger completion bash > /usr/share/bash-completion/completions/outrigger",
			"outrigger completion zsh > /usr/share/zsh/vendor-completions/_outrigger",
			"outrigger completion fish > /usr/share/fish/vendor_completions.d/outrigger.fish"),
		"man": examples("outrigger man > /usr/share/man/man1/outrigger.1", "outrigger man | man -l -"),
	}
}
