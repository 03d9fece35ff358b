package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// filterJSON is a rule as the API writes it, and reads it: its read-only
// members may be sent back and are ignored.
type filterJSON struct {
	ID             int64            `json:"id"`
	Version        int64            `json:"version"`
	Name           string           `json:"name"`
	Level          notify.Level     `json:"level"`
	Connection     string           `json:"connection"`
	ProjectKey     string           `json:"projectKey,omitempty"`
	RepositoryKey  string           `json:"repositoryKey,omitempty"`
	RepositorySlug string           `json:"repositorySlug,omitempty"` // read only as another name of repositoryKey
	WebhookURL     string           `json:"webhookUrl,omitempty"`
	ChannelName    string           `json:"channelName,omitempty"`
	Channel        string           `json:"channel,omitempty"`
	ChannelState   *ruleChannelJSON `json:"channelState,omitempty"`
	Format         notify.Format    `json:"format"`
	EventTypes     []string         `json:"eventTypes"`
	Branches       []string         `json:"branches,omitempty"`
	BranchMask     string           `json:"branchMask,omitempty"`

	IgnoredBranchMask string `json:"ignoredBranchMask,omitempty"`
	SourceBranchMask  string `json:"sourceBranchMask,omitempty"`

	Projects      []string               `json:"projects,omitempty"`
	Repositories  []notify.RepositoryRef `json:"repositories,omitempty"`
	Users         []string               `json:"users,omitempty"`
	IgnoredUsers  []string               `json:"ignoredUsers,omitempty"`
	Groups        []string               `json:"groups,omitempty"`
	IgnoredGroups []string               `json:"ignoredGroups,omitempty"`
	Reviewers     []string               `json:"reviewers,omitempty"`
	QuietHours    *quietHoursJSON        `json:"quietHours,omitempty"`

	MentionReviewers bool `json:"mentionReviewers,omitempty"`

	Enabled   *bool         `json:"enabled"`
	CreatedBy string        `json:"createdBy,omitempty"`
	CreatedAt *time.Time    `json:"createdAt,omitempty"`
	UpdatedBy string        `json:"updatedBy,omitempty"`
	UpdatedAt *time.Time    `json:"updatedAt,omitempty"`
	Warnings  []warningJSON `json:"warnings,omitempty"`
	MaskError string        `json:"maskError,omitempty"`
}

// warningJSON is what looks like a mistake in a member of a rule.
type warningJSON struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// ruleChannelJSON says how the rule's channel fares.
type ruleChannelJSON struct {
	State   string     `json:"state"` // ok, waiting, unreachable, broken
	Reason  string     `json:"reason,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
	Until   *time.Time `json:"until,omitempty"`
	Waiting int        `json:"waiting"`
}

func (a *API) listFilters(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if q.Has("id") {
		id, err := queryID(r)
		if err != nil {
			return err
		}
		info, err := a.filter(r.Context(), id)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", etagOf(&info))
		return rest.WriteJSON(w, r, http.StatusOK, filterOf(&info, a.Clock()))
	}
	repository := q.Get("repositoryKey")
	if repository == "" {
		repository = q.Get("repositorySlug")
	}
	of := notify.RuleQuery{Connection: q.Get("connection"), ProjectKey: q.Get("projectKey"), RepositoryKey: repository}
	if of.Connection != "" || of.ProjectKey != "" {
		name, err := a.connectionOf(notify.SelfHosted, of.Connection)
		if err != nil {
			return err
		}
		of.Connection = name
	}
	rules, err := a.Rules.List(r.Context(), of)
	if err != nil {
		return err
	}
	out := make([]filterJSON, len(rules))
	for i := range rules {
		out[i] = filterOf(&rules[i], a.Clock())
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// readFilter reads a rule of the self-hosted edition, saved or not, with its
// webhook URL and what is wrong so far.
func (a *API) readFilter(r *http.Request) (draft notify.Rule, webhookURL string, wrong fault.Fields, err error) {
	var in filterJSON
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return draft, "", nil, err
	}
	draft, err = a.selfHosted(r.Context(), in.rule(&wrong), &wrong)
	return draft, in.WebhookURL, wrong, err
}

func (a *API) saveFilter(w http.ResponseWriter, r *http.Request) error {
	draft, webhookURL, wrong, err := a.readFilter(r)
	if err != nil {
		return err
	}
	if err := a.unchanged(r.Context(), rest.MatchOf(r), &draft); err != nil {
		return err
	}
	info, err := a.Rules.Save(r.Context(), draft, webhookURL, wrong)
	if err != nil {
		return a.refused(r.Context(), rest.MatchOf(r), draft.ID, err)
	}
	w.Header().Set("ETag", etagOf(&info))
	status := http.StatusOK
	if draft.ID == 0 {
		status = http.StatusCreated
		w.Header().Set("Location", rest.Link(r.Context(), basePath+"/filter?id="+strconv.FormatInt(info.ID, 10)))
	}
	return rest.WriteJSON(w, r, status, filterOf(&info, a.Clock()))
}

func (a *API) deleteFilter(w http.ResponseWriter, r *http.Request) error {
	id, err := queryID(r)
	if err != nil {
		return err
	}
	info, err := a.filter(r.Context(), id)
	if err != nil {
		return err
	}
	if err := checkPlace(r, &info); err != nil {
		return err
	}
	at := notify.Rule{ID: id}
	if err := a.unchanged(r.Context(), rest.MatchOf(r), &at); err != nil {
		return err
	}
	if err := a.Rules.Delete(r.Context(), id, at.Version); err != nil {
		return a.refused(r.Context(), rest.MatchOf(r), id, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// checkPlace is fault.Invalid where the keys of a level that the query names are not
// the rule's own: who deletes it takes it for another.
func checkPlace(r *http.Request, info *notify.RuleInfo) error {
	q := r.URL.Query()
	var wrong fault.Fields
	if c := q.Get("connection"); c != "" && c != info.Connection {
		wrong.Add("connection", "Rule %d is of the connection %s.", info.ID, info.Connection)
	}
	repository, field := q.Get("repositoryKey"), "repositoryKey"
	if repository == "" && q.Get("repositorySlug") != "" {
		repository, field = q.Get("repositorySlug"), "repositorySlug"
	}
	project := q.Get("projectKey")
	if project == "" && repository == "" {
		return wrong.Err()
	}
	of := strings.ToLower(string(info.Level())) + " level"
	if place := strings.Trim(info.ProjectKey+"/"+info.RepositoryKey, "/"); place != "" {
		of += ", of " + place
	}
	if notify.Fold(project) != notify.Fold(info.ProjectKey) {
		wrong.Add("projectKey", "Rule %d is on %s. Give its own keys, or none.", info.ID, of)
	}
	if notify.Fold(repository) != notify.Fold(info.RepositoryKey) {
		wrong.Add(field, "Rule %d is on %s. Give its own keys, or none.", info.ID, of)
	}
	return wrong.Err()
}

// enableFilter switches a rule on or off.
func (a *API) enableFilter(w http.ResponseWriter, r *http.Request) error {
	id, wrongID := queryID(r)
	enabled, wrongEnabled := queryEnabled(r)
	if err := fault.Every(wrongID, wrongEnabled); err != nil {
		return err
	}
	if _, err := a.filter(r.Context(), id); err != nil {
		return err
	}
	at := notify.Rule{ID: id}
	if err := a.unchanged(r.Context(), rest.MatchOf(r), &at); err != nil {
		return err
	}
	info, err := a.Rules.Enable(r.Context(), id, at.Version, enabled)
	if err != nil {
		return a.refused(r.Context(), rest.MatchOf(r), id, err)
	}
	w.Header().Set("ETag", etagOf(&info))
	return rest.WriteJSON(w, r, http.StatusOK, filterOf(&info, a.Clock()))
}

func queryID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, fault.InvalidField("id", "Give the id of a rule as a whole number.")
	}
	return id, nil
}

// queryEnabled reads whether a rule or report is to be switched on.
func queryEnabled(r *http.Request) (bool, error) {
	enabled, err := strconv.ParseBool(r.URL.Query().Get("enabled"))
	if err != nil {
		return false, fault.InvalidField("enabled", "Use true or false.")
	}
	return enabled, nil
}

// rule makes a draft of what was read, and notes every member that is wrong in
// itself; the rule's own validation names the rest.
func (in *filterJSON) rule(f *fault.Fields) notify.Rule {
	types := eventTypesOf("eventTypes", in.EventTypes, f)
	if in.ID < 0 {
		f.Add("id", "Give a positive number. To create a rule, leave it out.")
	}
	if in.RepositorySlug != "" && in.RepositoryKey != "" && notify.Fold(in.RepositorySlug) != notify.Fold(in.RepositoryKey) {
		f.Add("repositorySlug", "It is another name of repositoryKey, and they differ.")
	}
	r := notify.Rule{
		ID: in.ID, Version: in.Version, Name: in.Name, Connection: in.Connection,
		ProjectKey: in.ProjectKey, RepositoryKey: in.RepositoryKey, ChannelName: in.ChannelName, Format: formatOf(in.Format),
		Filter: notify.Filter{
			EventTypes: notify.NewTypeSet(types...).Types(), Branches: in.Branches, BranchMask: in.BranchMask,
			IgnoredBranchMask: in.IgnoredBranchMask, SourceBranchMask: in.SourceBranchMask,
			Projects: in.Projects, Repositories: in.Repositories, Users: in.Users, IgnoredUsers: in.IgnoredUsers,
			Groups: in.Groups, IgnoredGroups: in.IgnoredGroups, Reviewers: in.Reviewers,
		},
		Options: notify.Options{QuietHours: in.QuietHours.quietHours(f), MentionReviewers: in.MentionReviewers},
		Enabled: in.Enabled == nil || *in.Enabled,
	}
	if r.RepositoryKey == "" {
		r.RepositoryKey = in.RepositorySlug
	}
	if r.Format == "" {
		r.Format = notify.Auto
	}
	return r
}

func filterOf(info *notify.RuleInfo, now time.Time) filterJSON {
	r := &info.Rule
	var warnings []warningJSON
	for _, w := range info.Warnings() {
		warnings = append(warnings, warningJSON{w.Name, w.Message})
	}
	return filterJSON{
		Warnings: warnings, MaskError: r.MaskError(),
		ID: r.ID, Version: r.Version, Name: r.Name, Level: r.Level(), Connection: r.Connection,
		ProjectKey: r.ProjectKey, RepositoryKey: r.RepositoryKey, WebhookURL: info.Channel.Mask,
		ChannelName: r.ChannelName, Channel: info.Channel.Fingerprint, ChannelState: ruleChannelOf(&info.Channel, now),
		Format: r.Format, EventTypes: typeKeys(r.EventTypes), Branches: r.Branches, BranchMask: r.BranchMask,
		IgnoredBranchMask: r.IgnoredBranchMask, SourceBranchMask: r.SourceBranchMask,
		Projects: r.Projects, Repositories: r.Repositories, Users: r.Users, IgnoredUsers: r.IgnoredUsers,
		Groups: r.Groups, IgnoredGroups: r.IgnoredGroups, Reviewers: r.Reviewers,
		QuietHours: quietHoursOf(r.QuietHours), MentionReviewers: r.MentionReviewers,
		Enabled: &r.Enabled, CreatedBy: r.CreatedBy, CreatedAt: &r.CreatedAt, UpdatedBy: r.UpdatedBy, UpdatedAt: &r.UpdatedAt,
	}
}

func ruleChannelOf(c *notify.Channel, now time.Time) *ruleChannelJSON {
	s := c.Status(now)
	return &ruleChannelJSON{State: s.State, Reason: s.Reason, Since: timePointer(s.Since), Until: timePointer(s.Until), Waiting: c.Waiting}
}

func timePointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
