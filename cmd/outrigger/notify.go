package main

type notifyCmd struct {
	TryBranch tryBranchCmd `cmd:"" help:"Test a branch mask against branch names. Needs no server."`
	SendEvent sendEventCmd `cmd:"" help:"Post a signed webhook, as the platform would."`
	Preview   previewCmd   `cmd:"" help:"Print a sample card of an event type. Needs no server."`

	Events       eventsCmd       `cmd:"" help:"List received events, newest first, including those that no rule took."`
	Explain      explainCmd      `cmd:"" help:"Show which rules took an event, and why the others did not."`
	Refused      refusedCmd      `cmd:"" help:"Count the webhooks that were refused in the last 24 hours, with the reason and what helps."`
	Deliveries   deliveriesCmd   `cmd:"" help:"List deliveries, newest first, or show one with its attempts."`
	Redeliver    redeliverCmd    `cmd:"" help:"Queue finished deliveries again."`
	Channels     channelsCmd     `cmd:"" help:"Channels: list and show them, replace a webhook URL."`
	RetryChannel retryChannelCmd `cmd:"" help:"Try a broken or paused channel again now."`
	Reports      reportsCmd      `cmd:"" help:"Activity reports: list, view and test them."`
}
