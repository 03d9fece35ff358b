package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"outrigger/internal/fault"
)

// What clients of the host application do, which its own REST API takes:
// https://developer.atlassian.com/server/framework/atlassian-sdk/rest-plugin-module/

// ignored are the parameters that they send along: how to authenticate, a number
// against caches, and a token against forged requests, none of which is used here.
var ignored = []string{"os_authType", "_", "atl_token"}

// refuseCredentials refuses a name or password in the address, which ends up in
// the logs of every proxy on the way.
func refuseCredentials(r *http.Request) error {
	if !strings.Contains(r.URL.RawQuery, "os_") {
		return nil
	}
	given := r.URL.Query()
	for _, name := range []string{"os_username", "os_password"} {
		if given.Has(name) {
			return fault.InvalidField(name, "Credentials in an address end up in logs. Send them in the header Authorization, and change "+
				"this password.")
		}
	}
	return nil
}

// plain returns the request under the path that its route has: without a slash at
// the end, and with the version 1.0 for latest.
func (rt *Router) plain(r *http.Request) *http.Request {
	under, ok := strings.CutPrefix(r.URL.Path, rt.base.path+"/rest/")
	if !ok {
		return r
	}
	api, rest, _ := strings.Cut(under, "/")
	latest := slices.Contains(rt.versioned, api) && within(rest, "latest")
	if !latest && !strings.HasSuffix(under, "/") {
		return r
	}
	change := func(path string) string {
		if latest {
			path = strings.Replace(path, "/rest/"+api+"/latest", "/rest/"+api+"/1.0", 1)
		}
		return strings.TrimSuffix(path, "/")
	}
	plain := *r
	plain.URL = new(url.URL)
	*plain.URL = *r.URL
	plain.URL.Path, plain.URL.RawPath = change(r.URL.Path), change(r.URL.RawPath)
	return &plain
}

// noteVersion notes an API of which latest stands for 1.0.
func (rt *Router) noteVersion(path string) {
	under, _ := strings.CutPrefix(path, "/rest/")
	api, rest, _ := strings.Cut(under, "/")
	if within(rest, "1.0") && !slices.Contains(rt.versioned, api) {
		rt.versioned = append(rt.versioned, api)
	}
}

// Spelled returns the one of the values that a text stands for: in any case, and
// with spaces or hyphens for underscores, as the original's pages write them. Any
// other text comes back as it is, to be refused.
func Spelled[T ~string](text T, values ...T) T {
	for _, v := range values {
		if Key(string(v)) == Key(string(text)) {
			return v
		}
	}
	return text
}

var underscores = strings.NewReplacer(" ", "_", "-", "_")

// Key returns a text as enum values are written.
func Key(text string) string { return strings.ToUpper(underscores.Replace(strings.TrimSpace(text))) }
