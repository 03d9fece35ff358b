package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

const ruleColumns = `r.id, ` + ruleMembers

const ruleMembers = `r.version, r.name, r.connection, r.project_key, r.repository_key, r.channel_id, r.channel_name,
	r.format, r.filter, r.options, r.enabled, r.authorization_id, r.paused, r.created_by, r.created_at, r.updated_by, r.updated_at`

const channelColumns = `c.id, c.version, c.name, c.format, c.fingerprint, c.host, c.mask, c.state, c.reason, c.inside, c.broken_at,
	c.gate_until, c.gate_step, c.gate_reason, c.gate_inside, c.rejected, c.refused, c.suspect, c.failing_since, c.last_ok_at, ` + channelIdle

// channelInto is where to scan channelColumns.
func channelInto(c *notify.Channel) []any {
	return []any{&c.ID, &c.Version, &c.Named, &c.Format, &c.Fingerprint, &c.Host, &c.Mask, &c.State, &c.Reason, &c.Inside,
		db.At(&c.BrokenAt), db.At(&c.GateUntil), &c.GateStep, &c.GateReason, &c.GateInside, &c.Rejected, &c.Refused, &c.Suspect,
		db.At(&c.FailingSince), db.At(&c.LastOKAt), &c.Idle}
}

// channelIdle is looked up for channels that fail alone: lists have thousands.
const channelIdle = `CASE WHEN c.failing_since > 0 OR c.gate_reason <> '' THEN
	CASE WHEN EXISTS (SELECT 1 FROM notify_deliveries w WHERE w.channel_id = c.id AND w.finished_at = 0) THEN 0 ELSE 1 END ELSE 0 END`

// readRuleInfos reads the rules that a condition, perhaps with an order and a
// limit behind it, selects.
func readRuleInfos(ctx context.Context, tx *db.Tx, condition string, args ...any) ([]notify.RuleInfo, error) {
	out, err := db.List(ctx, tx, "reading rules", scanRuleInfo, `SELECT `+ruleColumns+`, `+channelColumns+`
		FROM notify_rules r JOIN notify_channels c ON c.id = r.channel_id WHERE `+condition, args...)
	if err != nil {
		return nil, err
	}
	if err := addAccounts(ctx, tx, out); err != nil {
		return nil, err
	}
	return out, addMaskFailures(ctx, tx, out)
}

// addAccounts sets the accounts that rules of the cloud edition belong to.
func addAccounts(ctx context.Context, tx *db.Tx, rules []notify.RuleInfo) error {
	accounts := make(map[int64]notify.RuleAccount)
	var ids []int64
	for i := range rules {
		id := rules[i].AuthorizationID
		if _, ok := accounts[id]; !ok && id != 0 {
			accounts[id] = notify.RuleAccount{}
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	err := tx.EachRow(ctx, "reading the accounts of rules", func(row db.Row) error {
		var id int64
		var a notify.RuleAccount
		err := row.Scan(&id, &a.Name, &a.State)
		accounts[id] = a
		return err
	}, `SELECT id, account_name, state FROM notify_authorizations WHERE id IN (`+list(ids)+`)`)
	for i := range rules {
		rules[i].Account = accounts[rules[i].AuthorizationID]
	}
	return err
}

// readRules reads every rule that the condition selects, formats resolved.
func readRules(ctx context.Context, tx *db.Tx, condition string, failures map[int64][]notify.MaskFailure) ([]*notify.Rule, error) {
	return db.List(ctx, tx, "reading rules", func(row db.Row) (*notify.Rule, error) {
		r, format, host := new(notify.Rule), notify.Auto, ""
		if err := scanRule(row, r, &format, &host); err != nil {
			return nil, err
		}
		r.Format = r.Format.Else(format).ResolveFormat(host)
		r.KeepMaskFailures(failures[r.ID])
		return r, nil
	}, `SELECT `+ruleColumns+`, c.format, c.host
		FROM notify_rules r JOIN notify_channels c ON c.id = r.channel_id WHERE `+condition+` ORDER BY r.id`)
}

// maxChanged is up to how many changed rules are read one by one.
const maxChanged = 500

// readEnabled reads the enabled rules for a RuleSet. Those that have holds in
// the same version are taken from there: to read and compile 10,000 rules
// takes half a second, which no event should wait for after every save.
func readEnabled(ctx context.Context, tx *db.Tx, have *notify.RuleSet) ([]*notify.Rule, error) {
	failures, err := readMaskFailures(ctx, tx, `TRUE`)
	if err != nil {
		return nil, err
	}
	if have.Len() == 0 { // a start
		return readRules(ctx, tx, `r.enabled = 1`, failures)
	}
	var rules []*notify.Rule
	var changed []int64
	err = tx.EachRow(ctx, "reading the versions of rules", func(row db.Row) error {
		var id, version int64
		var paused bool
		var own, channels notify.Format
		var host string
		if err := row.Scan(&id, &version, &paused, &own, &channels, &host); err != nil {
			return err
		}
		if r := have.Rule(id); r != nil && r.Version == version && r.Paused == paused && r.Format == own.Else(channels).ResolveFormat(host) &&
			sameMaskFailures(r, failures[id]) {
			rules = append(rules, r)
		} else {
			changed = append(changed, id)
		}
		return nil
	}, `SELECT r.id, r.version, r.paused, r.format, c.format, c.host
		FROM notify_rules r JOIN notify_channels c ON c.id = r.channel_id WHERE r.enabled = 1`)
	if err != nil {
		return nil, err
	}
	switch {
	case len(changed) > maxChanged:
		return readRules(ctx, tx, `r.enabled = 1`, failures)
	case len(changed) > 0:
		read, err := readRules(ctx, tx, `r.id IN (`+list(changed)+`)`, failures)
		if err != nil {
			return nil, err
		}
		rules = append(rules, read...)
	}
	// In one order on every node: a delivery names its rules in it.
	slices.SortFunc(rules, func(a, b *notify.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return rules, nil
}

func scanRuleInfo(row db.Row) (info notify.RuleInfo, err error) {
	err = scanRule(row, &info.Rule, channelInto(&info.Channel)...)
	return info, err
}

func scanRule(row db.Row, r *notify.Rule, more ...any) error {
	var filter, options string
	into := []any{&r.ID, &r.Version, &r.Name, &r.Connection, &r.ProjectKey, &r.RepositoryKey, &r.ChannelID, &r.ChannelName, &r.Format,
		&filter, &options, &r.Enabled, &r.AuthorizationID, &r.Paused, &r.CreatedBy, db.At(&r.CreatedAt), &r.UpdatedBy, db.At(&r.UpdatedAt)}
	if err := row.Scan(append(into, more...)...); err != nil {
		return err
	}
	// A filter that cannot be read leaves the rule alone with none, which
	// matches nothing.
	r.Filter, r.Options = decodeFilter(filter), decodeOptions(options)
	return nil
}

// encodeMembers writes what of a rule is kept as JSON.
func encodeMembers(r *notify.Rule) (filter, options string, err error) {
	f, err := json.Marshal(r.Filter)
	if err != nil {
		return "", "", fmt.Errorf("encoding filter: %w", err)
	}
	o, err := json.Marshal(r.Options)
	if err != nil {
		return "", "", fmt.Errorf("encoding options: %w", err)
	}
	return string(f), string(o), nil
}

// decodeFilter reads a stored filter. What cannot be read at all is an empty
// one; event types of a later release are left out.
func decodeFilter(stored string) notify.Filter {
	var kept struct {
		notify.Filter
		EventTypes []string `json:"eventTypes"`
	}
	if json.Unmarshal([]byte(stored), &kept) != nil {
		return notify.Filter{}
	}
	f := kept.Filter
	for _, key := range kept.EventTypes {
		if t, ok := notify.ParseEventType(key); ok {
			f.EventTypes = append(f.EventTypes, t)
		}
	}
	return f
}

// decodeOptions reads stored options. What cannot be read, of a later release,
// is none: the rule sends at once.
func decodeOptions(stored string) notify.Options {
	var o notify.Options
	if json.Unmarshal([]byte(stored), &o) != nil {
		return notify.Options{}
	}
	return o
}

// savedMembers are the columns that every save of a rule writes, in the order of
// savedValues.
const savedMembers = `version, name, connection, project_key, repository_key, project_fold, repository_fold,
	channel_id, channel_name, format, filter, options, enabled, authorization_id, paused, updated_by, updated_at`

func savedValues(r *notify.Rule) ([]any, error) {
	filter, options, err := encodeMembers(r)
	return []any{r.Version, r.Name, r.Connection, r.ProjectKey, r.RepositoryKey, notify.Fold(r.ProjectKey), notify.Fold(r.RepositoryKey),
		r.ChannelID, r.ChannelName, string(r.Format), filter, options, db.Bit(r.Enabled), r.AuthorizationID, db.Bit(r.Paused),
		r.UpdatedBy, db.Micros(r.UpdatedAt)}, err
}

func insertRule(ctx context.Context, tx *db.Tx, r *notify.Rule) error {
	values, err := savedValues(r)
	if err != nil {
		return err
	}
	values = append(values, r.CreatedBy, db.Micros(r.CreatedAt))
	return tx.Get(ctx, "inserting rule", []any{&r.ID}, `INSERT INTO notify_rules (`+savedMembers+`, created_by, created_at, since)
		VALUES (`+parameters(len(values))+`, `+presentGeneration+`) RETURNING id`, values...)
}

func updateRule(ctx context.Context, tx *db.Tx, r *notify.Rule) error {
	values, err := savedValues(r)
	if err != nil {
		return err
	}
	if err := keepVersion(ctx, tx, r.ID, r.UpdatedBy); err != nil {
		return err
	}
	return tx.Do(ctx, "updating rule", `UPDATE notify_rules SET (`+savedMembers+`, since) = (`+parameters(len(values))+`, `+
		presentGeneration+`) WHERE id = $`+strconv.Itoa(len(values)+1), append(values, r.ID)...)
}
