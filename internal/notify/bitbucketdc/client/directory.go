package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

const (
	// maxCandidates bounds what one user is asked about: 20 requests a minute.
	maxCandidates = 500
	// permissionsAtOnce is how many permissions one request asks about; the
	// platform takes 50, and the URL has to stay short for what is in between.
	permissionsAtOnce = 25
)

// Directory is the users of a connection's platform. Its account must be one
// that may ask for the permissions of others.
type Directory struct {
	Client     *Client
	Connection func() *notify.Connection // as it is now
}

// SignIn asks the platform with the user's own name and password: who they are and
// what they administer.
func (d *Directory) SignIn(ctx context.Context, name, password string) (found identity.DirectoryUser, err error) {
	own := *d.Connection()
	own.User, own.Token = name, secret.New(password)
	// A client of its own: a wrong password must not make the platform pause for
	// the connection's account, nor the next attempt of this user.
	cl := &Client{d.Client.rest.Fresh()}
	if found.Name, err = cl.whoIs(ctx, &own, name); err != nil {
		return found, d.refused(err)
	}
	return found, d.refused(cl.administered(ctx, &own, &found))
}

// administered lists what the user who asks administers.
func (cl *Client) administered(ctx context.Context, own *notify.Connection, found *identity.DirectoryUser) error {
	add := func(g identity.Grant) (enough bool) {
		if found.More = len(found.Candidates) >= maxCandidates; !found.More {
			found.Candidates = append(found.Candidates, g)
		}
		return found.More
	}
	at := func(project, repository string) identity.Resource {
		return identity.Resource{Connection: own.Name, Project: project, Repository: repository}
	}
	projects := map[string]bool{}
	err := list(ctx, cl, own, apiPath+"/projects", url.Values{"permission": {"PROJECT_ADMIN"}}, func(p notify.ListedProject) bool {
		projects[p.Key] = true
		return p.Key != "" && add(identity.Grant{Permission: identity.ProjectAdmin, Resource: at(p.Key, "")})
	})
	if err != nil || found.More {
		return err
	}
	type repository struct {
		Slug    string
		Project struct{ Key string }
	}
	return list(ctx, cl, own, apiPath+"/repos", url.Values{"permission": {"REPO_ADMIN"}}, func(r repository) bool {
		// Who administers a project administers all that is in it.
		return r.Slug != "" && r.Project.Key != "" && !projects[r.Project.Key] &&
			add(identity.Grant{Permission: identity.RepoAdmin, Resource: at(r.Project.Key, r.Slug)})
	})
}

// whoIs returns the name of the user who asks, as the platform writes it: it
// takes names in any case. Where two names differ in nothing but case it is
// not known whose password was right.
func (cl *Client) whoIs(ctx context.Context, own *notify.Connection, typed string) (name string, err error) {
	others, inactive := false, false
	isFor := func(h http.Header) error { return judgeUser(h, own, typed) }
	err = listJudged(ctx, cl, own, apiPath+"/users", url.Values{"filter": {typed}}, isFor, func(u user) bool {
		if notify.Fold(u.Name) != notify.Fold(typed) {
			return false
		}
		others = name != "" && name != u.Name
		name, inactive = u.Name, inactive || u.inactive()
		return others
	})
	switch {
	case err != nil:
	case inactive:
		err = disbelieved("the platform of %s says that the user is not active", own.Name)
	case name == "" || others:
		err = identity.ErrUnauthenticated()
	}
	return name, err
}

// judgeUser is nil for the headers of an answer to the user of that name. What is
// between here and the platform may answer to any password, from a cache or signed
// in as another user.
func judgeUser(h http.Header, own *notify.Connection, name string) error {
	is, err := answeredUser(h)
	const lookAt = "pass on the header Authorization of requests as it came, answer nothing from a cache, and pass on X-AUSERNAME of answers"
	switch {
	case err != nil || is == "":
		return fault.New(fault.Unavailable, "The platform of %s answers, but not to whom (X-AUSERNAME). Have what is between Outrigger and "+
			"the platform %s.", own.Name, lookAt)
	case notify.Fold(is) != notify.Fold(name):
		return disbelieved("the platform of %s answers to %q (X-AUSERNAME) where it was asked as %q; have what is between Outrigger and "+
			"the platform %s", own.Name, is, name, lookAt)
	}
	return nil
}

// disbelieved is the error of an answer that lets no user in; why is for the
// log.
func disbelieved(why string, args ...any) error {
	return fault.Wrap(fmt.Errorf(why, args...), fault.Unauthenticated, "The platform's answer does not prove who signs in.")
}

// refused turns the platform's answer to wrong credentials into that of
// identity.
func (d *Directory) refused(err error) error {
	if err != nil && restclient.StatusOf(err) == http.StatusUnauthorized && !Refused(err) {
		return identity.ErrUnauthenticated()
	}
	return err
}

// CurrentGrants asks with the connection's account. The user's permissions through
// groups count.
func (d *Directory) CurrentGrants(ctx context.Context, name string, candidates []identity.Grant) ([]identity.Grant, error) {
	is, err := d.has(ctx, name, []identity.Grant{{Permission: "LICENSED_USER"}})
	switch {
	case err != nil:
		return nil, err
	case !is:
		return nil, identity.ErrUnauthenticated()
	}
	admin := []identity.Grant{{Permission: identity.Admin}}
	switch is, err = d.has(ctx, name, admin); {
	case err != nil:
		return nil, err
	case is:
		return admin, nil
	}
	var present []identity.Grant
	for len(candidates) > 0 {
		n := min(permissionsAtOnce, len(candidates))
		if present, err = d.appendPresent(ctx, present, name, candidates[:n]); err != nil {
			return nil, err
		}
		candidates = candidates[n:]
	}
	return present, nil
}

// appendPresent asks about all at once, and where the user lacks one, or one
// does not exist any more, about each half.
func (d *Directory) appendPresent(
	ctx context.Context, present []identity.Grant, name string, candidates []identity.Grant,
) ([]identity.Grant, error) {
	all, err := d.has(ctx, name, candidates)
	switch {
	case err != nil:
		return nil, err
	case all:
		return append(present, candidates...), nil
	case len(candidates) == 1:
		return present, nil
	}
	half := len(candidates) / 2
	if present, err = d.appendPresent(ctx, present, name, candidates[:half]); err != nil {
		return nil, err
	}
	return d.appendPresent(ctx, present, name, candidates[half:])
}

// has reports whether the user of exactly this name has every permission.
func (d *Directory) has(ctx context.Context, name string, permissions []identity.Grant) (found bool, err error) {
	query := url.Values{"filter": {name}}
	for i, g := range permissions {
		root := "permission." + strconv.Itoa(i+1)
		query.Set(root, string(g.Permission))
		if g.Resource.Project != "" {
			query.Set(root+".projectKey", g.Resource.Project)
		}
		if g.Resource.Repository != "" {
			query.Set(root+".repositorySlug", g.Resource.Repository)
		}
	}
	err = list(ctx, d.Client, d.Connection(), apiPath+"/users", query, func(u user) bool {
		found = u.Name == name && !u.inactive()
		return found
	})
	if restclient.StatusOf(err) == http.StatusNotFound && permissions[0].Resource.Project != "" {
		return false, nil // one of the projects or repositories is gone
	}
	return found, err
}

// user is an account of the platform.
type user struct {
	Name, DisplayName string
	Active            *bool // nil: it is not said
}

// inactive reports whether the platform says that the account may not sign in.
func (u user) inactive() bool { return u.Active != nil && !*u.Active }

// Member reports whether the user is in the group. Any account may ask that.
func (cl *Client) Member(ctx context.Context, c *notify.Connection, name, group string) (bool, error) {
	return cl.user(ctx, c, name, url.Values{"group": {group}})
}

// user reports whether a list of users has the name. The platform's filter finds
// it anywhere in names and addresses, so that the answer has others too.
func (cl *Client) user(ctx context.Context, c *notify.Connection, name string, query url.Values) (found bool, err error) {
	query.Set("filter", name)
	err = list(ctx, cl, c, apiPath+"/users", query, func(u user) bool {
		found = notify.Fold(u.Name) == notify.Fold(name)
		return found
	})
	return found, err
}
