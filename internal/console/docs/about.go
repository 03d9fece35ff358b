package docs

import "strings"

// documented says which page of the documentation is about the pages of the console
// whose paths begin so; of several the longest counts.
var documented = map[string]string{
	"/":                                "", // the index
	"/account/password":                "users#passwords",
	"/account/second-factor":           "second-factors",
	"/account/sessions":                "users",
	"/account/tokens":                  "users#tokens",
	"/confirm":                         "users#what-asks-for-the-password-again",
	"/find":                            "console#go-to-anything",
	"/mail":                            "mail",
	"/mail/messages":                   "mail#what-happens-to-a-message",
	"/notifications":                   "rules",
	"/notifications/channels":          "missing-messages#4-is-the-channel-broken",
	"/notifications/cloud":             "cloud-rules",
	"/notifications/cloud/accounts":    "bitbucket-cloud#let-users-authorise-accounts",
	"/notifications/connections":       "bitbucket-data-center",
	"/notifications/new-connection":    "bitbucket-data-center",
	"/notifications/deliveries":        "missing-messages#3-was-it-sent",
	"/notifications/events":            "missing-messages#1-did-the-event-come-in",
	"/notifications/mentions":          "rules#mentions",
	"/notifications/renames":           "bitbucket-data-center#when-a-project-or-repository-is-renamed",
	"/notifications/reports":           "reports",
	"/notifications/settings":          "rules#through-a-proxy",
	"/oauth":                           "bitbucket-cloud#let-users-authorise-accounts",
	"/sign-in":                         "troubleshooting#you-cannot-sign-in",
	"/sign-in/factor":                  "second-factors#if-it-is-lost",
	"/system/about":                    "upgrade",
	"/system/audit":                    "audit",
	"/system/backup":                   "backup",
	"/system/groups":                   "single-sign-on#groups",
	"/system/nodes":                    "nodes",
	"/system/users":                    "users",
	"/threads/admin":                   "migration",
	"/threads/admin/backup":            "migration#back-up-and-restore-threads",
	"/threads/admin/migration/errors":  "migration#3-migrate",
	"/threads/admin/migration/preview": "migration#2-preview",
	"/threads/admin/migration/verify":  "migration#4-verify-and-sign-off",
	"/threads/source":                  "migration-files",
}

// about is the address of the page about a page of the console; "" for the pages of
// the documentation themselves.
func about(page string) string {
	if strings.HasPrefix(page, path) {
		return ""
	}
	for prefix := page; ; prefix = prefix[:strings.LastIndexByte(prefix, '/')] {
		if prefix == "" {
			return path
		}
		if name, ok := documented[prefix]; ok {
			return path + name
		}
	}
}
