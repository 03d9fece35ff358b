package secret

import (
	"net/url"
	"strings"
)

const (
	cut  = "…"    // stands for a part of a URL that is not shown
	dots = "••••" // stands for a signature
)

// MaskURL returns what may be shown of a webhook URL: scheme and host, and that
// there is a path, a query and a signature, as in
//
//	https://host/…/invoke?…sig=••••
//
// Of the path only the word that every workflow URL ends with is shown, since
// a path may itself be the secret (Slack, Mattermost). The same URL always
// gives the same mask, and the mask of a mask is that mask. What is no URL
// with a host shows nothing at all, and a user with a password is left out.
func MaskURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return dots
	}
	masked := u.Scheme + "://" + u.Host
	if path := strings.Trim(u.Path, "/"); path != "" {
		masked += "/" + cut
		if strings.HasSuffix(path, "/invoke") {
			masked += "/invoke"
		}
	}
	if u.RawQuery != "" {
		masked += "?" + cut
		if hasSignature(u.RawQuery) {
			masked += "sig=" + dots
		}
	}
	return masked
}

// hasSignature reports whether a query has a member `sig`, also when the query
// is that of a mask.
func hasSignature(query string) bool {
	for member := range strings.SplitSeq(query, "&") {
		name, _, found := strings.Cut(member, "=")
		if found && (name == "sig" || name == cut+"sig") {
			return true
		}
	}
	return false
}

// IsMask reports whether a text has the marks of MaskURL, which no real URL has:
// a client that sends it back has read it here.
func IsMask(text string) bool {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return strings.Contains(text, cut) || strings.Contains(text, dots)
}

// MaskPassword returns a URL whose password, if it has one, is shown as dots.
func MaskPassword(u *url.URL) string {
	password, has := u.User.Password()
	if !has || password == "" {
		return u.String()
	}
	masked := *u
	masked.User = url.User(u.User.Username())
	return strings.Replace(masked.String(), "@", ":"+dots+"@", 1) // a user's own @ is escaped
}

// UnmaskPassword returns a URL that MaskPassword made a form that url.Parse
// takes; HasMaskedPassword knows it again.
func UnmaskPassword(masked string) string {
	return strings.Replace(masked, ":"+dots+"@", ":"+url.QueryEscape(dots)+"@", 1)
}

// HasMaskedPassword reports whether the password of a URL is dots.
func HasMaskedPassword(u *url.URL) bool {
	password, _ := u.User.Password()
	return password == dots
}
