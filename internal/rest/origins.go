package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"outrigger/internal/identity"
)

// Origins tells writes that a browser sends for a page of this server from those
// for pages of others.
type Origins struct {
	own        string // scheme and host of the base URL
	protection http.CrossOriginProtection
}

// NewOrigins makes it for a base URL.
func NewOrigins(baseURL string) (*Origins, error) {
	base, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	o := &Origins{own: base.Scheme + "://" + base.Host}
	// Behind a proxy that changes Host, browsers that send no Sec-Fetch-Site
	// are known by their Origin.
	if err := o.protection.AddTrustedOrigin(o.own); err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	return o, nil
}

var errOtherScheme = errors.New("the scheme of Origin differs from the request's")

// Check is nil for reads, for what no browser sent and for pages of this server.
// Beyond http.CrossOriginProtection, which compares hosts, a page that came by
// http is foreign to https: anyone on the way may have written it.
func (o *Origins) Check(r *http.Request) error {
	if err := o.protection.Check(r); err != nil {
		return err
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	origin := r.Header.Get("Origin")
	if origin == "" || origin == o.own || r.Header.Get("Sec-Fetch-Site") != "" { // the browser itself compared
		return nil
	}
	scheme := "http"
	if identity.OriginOf(r.Context()).HTTPS {
		scheme = "https"
	}
	if u, err := url.Parse(origin); err != nil || u.Scheme != scheme {
		return errOtherScheme
	}
	return nil
}
