package api

import (
	"context"
	"fmt"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// present is the version of a thing that is there now; its id is 0 where there is none yet.
type present struct {
	id, version int64                             // of its ETag
	saves       func(named int64) (string, error) // who saved it since a version, which is 0 where none is named
}

// look returns what is there now; nil where it has no versions.
type look func() (*present, error)

// held makes a change of the version that the body names or, where that is 0, of the present
// one, unless If-Match takes any. A request with If-Match is held to the version that it
// names twice: before the change, so that it is refused at once (412), and in the change's
// own transaction, by the version, so that a save in between is kept too.
func held[T any](match rest.Match, version int64, now look, change func(version int64) (T, error)) (out T, err error) {
	if !match.IsGiven() {
		return change(version)
	}
	check := func() error {
		is, err := now()
		switch {
		case err != nil || is == nil:
			return err
		case is.id == 0:
			return match.Check("", "")
		case version == 0 && !match.Any():
			version = is.version
		}
		saved, err := is.saves(match.Version(is.id))
		if err != nil {
			return err
		}
		return match.Check(rest.ETag(is.id, is.version), saved)
	}
	if err := check(); err != nil {
		return out, err
	}
	out, err = change(version)
	if fault.Is(err, fault.Conflict) {
		if changed := check(); changed != nil {
			err = changed
		}
	}
	return out, err
}

// heldDo is held for a change that answers nothing.
func heldDo(match rest.Match, now look, change func(version int64) error) error {
	_, err := held(match, 0, now, func(version int64) (rest.None, error) { return rest.None{}, change(version) })
	return err
}

// etagOf names a version of a rule.
func etagOf(info *notify.RuleInfo) string { return rest.ETag(info.ID, info.Version) }

func (a *API) ruleNow(ctx context.Context, id int64) look {
	return func() (*present, error) {
		if id == 0 {
			return &present{}, nil
		}
		info, err := a.Rules.Get(ctx, id)
		return &present{info.ID, info.Version, func(named int64) (string, error) {
			if named == 0 || named >= info.Version {
				return notify.SavesOf(nil, 0, notify.Present{Version: info.Version, By: info.UpdatedBy, At: info.UpdatedAt}), nil
			}
			since, err := a.Rules.Store.RuleVersionsSince(ctx, &info.Rule, named)
			return notify.SavesSince(since, &info), err
		}}, err
	}
}

func (a *API) reportNow(ctx context.Context, id int64) look {
	return func() (*present, error) {
		if id == 0 {
			return &present{}, nil
		}
		info, err := a.Reports.Get(ctx, id)
		return a.presentOf(ctx, info.ID, fmt.Sprint(info.ID), info.Present()), err
	}
}

func (a *API) channelNow(ctx context.Context, channel string) look {
	return func() (*present, error) {
		c, err := a.Channels.Get(ctx, channel)
		return a.presentOf(ctx, c.ID, c.UnderID(), c.Present()), err
	}
}

// connectionNow has nothing of a connection of the file, which has no version; to change
// it is refused anyway.
func (a *API) connectionNow(ctx context.Context, name string) look {
	again := false
	return func() (*present, error) {
		if again { // a change of this moment may be committed and not loaded yet
			if err := a.Hooks.Store.Load(ctx); err != nil {
				return nil, err
			}
		}
		again = true
		c, err := a.Hooks.Connection(ctx, name)
		if err != nil || c.File {
			return nil, err
		}
		return a.presentOf(ctx, connectionID(c), c.Name, c.Present()), nil
	}
}

// connectionID is the id of a connection in its ETag. Its name may have been another one's
// before, so the time at which it was made is that.
func connectionID(c *notify.Connection) int64 { return c.CreatedAt.UnixMicro() }

// presentOf is for what has its saves in the audit trail, under the id recorded.
func (a *API) presentOf(ctx context.Context, id int64, recorded string, now notify.Present) *present {
	return &present{id, now.Version, func(named int64) (string, error) {
		return a.Rules.Store.SavesSince(ctx, recorded, named, now)
	}}
}
