package store

import "outrigger/internal/secret"

// SealedPlaces is what the key encrypts in this wing's tables. A channel whose
// webhook URL is lost takes no messages, and its rules ask for the URL.
func SealedPlaces() []secret.Place {
	return []secret.Place{
		{Table: "notify_channels", Column: "url", Row: "fingerprint",
			Lost: `url = SUBSTR(url, 1, 0), state = 'broken', broken_at = created_at, inside = '',
			reason = 'Its webhook URL was encrypted with a key that is lost. Enter the URL again in the rule.'`},
		{Table: "notify_connections", Column: "token", Row: connectionRow},
		{Table: "notify_hooks", Column: "secret", Row: "connection || '/' || name"},
		{Table: "notify_connections", Column: "oauth_client_secret", Row: connectionRow},
		{Table: "notify_hooks", Column: "previous", Row: "connection || '/' || name"},
		{Table: "notify_authorizations", Column: "access_token", Row: accountRow, Lost: lostTokens},
		{Table: "notify_authorizations", Column: "refresh_token", Row: accountRow, Lost: lostTokens},
		{Table: "notify_authorization_requests", Column: "verifier", Row: "state"},
	}
}

// What credentials are sealed for, in SQL: the address they are sent to is part of
// it, so that they cannot be had by changing it in a backup.
const (
	connectionRow = "name || ' ' || base_url"
	accountRow    = "connection || '/' || account_id || ' ' || base_url"
)

// lostTokens has the account asked for again; its rules go on.
const lostTokens = `state = 'withdrawn', access_token = NULL, refresh_token = NULL, due_at = 0, asked_at = 0,
	reason = 'Its tokens were encrypted with a key that is lost. Authorise the account again.'`
