// Package admin has the operations on the rules, channels, deliveries, reports and
// connections of chat notifications. It lists and saves them, each operation with its
// permission check and its audit entry. The packages api and pages expose them.
package admin

// Services has the operations on every resource. REST and the console offer the same.
type Services struct {
	Rules          *Rules
	Trials         *Trials
	Reports        *Reports
	Channels       *Channels
	Events         *Events
	Deliveries     *Deliveries
	Hooks          *Hooks
	Webhooks       *Webhooks
	Builds         *Builds
	Repositories   *Repositories
	ChatAccounts   *ChatAccounts
	Authorizations *Authorizations
}
