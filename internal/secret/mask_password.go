package secret

import (
	"net/url"
	"strings"
)

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
