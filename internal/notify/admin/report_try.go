package admin

import (
	"cmp"
	"context"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Test sends what a report as it is typed, saved or not, says now, and returns what
// the chat platform answered. Of the members only those that the message needs
// are looked at: not when the report is due. An empty or masked webhookURL is the
// stored one of the report with the draft's id. The permissions are those of Save; wrong is
// what the caller found already. Errors: fault.RateLimited, and fault.Unavailable
// where the code platform does not answer.
func (s *Reports) Test(ctx context.Context, draft notify.Report, webhookURL string, wrong fault.Fields) (*Tested, error) {
	draft, stored, err := s.prepare(ctx, draft, &wrong)
	if err != nil {
		return nil, err
	}
	draft.ChannelID, webhookURL, err = chosen(ctx, s.Store, draft.Choice, &stored.Channel, webhookURL)
	if err := wrong.Join(err); err != nil {
		return nil, err
	}
	draft.ValidateContent(&wrong)
	if err := wrong.Join(checkURL(s.CheckURL, webhookURL, "report", draft.ID, draft.ChannelID)); err != nil {
		return nil, err
	}
	keep := webhookURL == "" || secret.IsMask(webhookURL)
	if keep && webhookURL != "" && draft.ID != 0 && webhookURL != stored.Channel.Mask {
		wrong.Add("webhookUrl", notify.OtherMask)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	to := secret.New(webhookURL)
	if keep {
		if to, draft.Format, err = s.Tests.stored(ctx, cmp.Or(draft.ChannelID, stored.ChannelID), "report", draft.Format); err != nil {
			return nil, err
		}
	}
	if err := s.Tests.allow(ctx); err != nil { // before the platform is asked
		return nil, err
	}
	e, err := s.askNow(ctx, &draft)
	if err != nil {
		return nil, err
	}
	of := tested{object: "report", at: identity.Resource{Connection: draft.Connection, Project: draft.ProjectKey,
		Repository: draft.RepositoryKey}}
	if draft.ID != 0 {
		of.id = strconv.FormatInt(draft.ID, 10)
	}
	return s.Tests.post(ctx, of, to, func(f notify.Format) []byte { return s.Write(e, f) }, draft.Format)
}
