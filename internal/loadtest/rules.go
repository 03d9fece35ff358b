package loadtest

import (
	"context"
	"fmt"
	"net/http"
)

// Rule is a notification rule, with the members that tests set.
type Rule struct {
	ID            int64    `json:"id,omitempty"`
	Name          string   `json:"name"`
	Connection    string   `json:"connection"`
	WebhookURL    string   `json:"webhookUrl,omitempty"`
	ProjectKey    string   `json:"projectKey,omitempty"`
	RepositoryKey string   `json:"repositoryKey,omitempty"`
	BranchMask    string   `json:"branchMask,omitempty"`
	EventTypes    []string `json:"eventTypes"`
}

// ChannelRule is the rule that sends the load's events of a channel to it.
func ChannelRule(channel int, sink string) Rule {
	return Rule{
		Name:          fmt.Sprintf("channel %d", channel),
		Connection:    Connection,
		WebhookURL:    fmt.Sprintf("%s/channel/%d", sink, channel),
		ProjectKey:    project,
		RepositoryKey: repository(channel),
		EventTypes:    []string{"PULL_REQUEST_OPENED"},
	}
}

// RulesPath is where rules are saved.
const RulesPath = "/rest/mtbs/1.0/configuration/filter"

// SaveRule creates a rule, or saves one that has an id, and gives its id.
func (p *Process) SaveRule(ctx context.Context, r Rule) (int64, error) {
	var saved Rule
	err := p.Ask(ctx, http.MethodPost, RulesPath, r, &saved)
	return saved.ID, err
}

// SaveChannelRules creates the rule of every channel.
func (p *Process) SaveChannelRules(ctx context.Context, channels int, sink string) error {
	for c := range channels {
		if _, err := p.SaveRule(ctx, ChannelRule(c, sink)); err != nil {
			return err
		}
	}
	return nil
}
