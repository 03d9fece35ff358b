package config

import "outrigger/internal/secret"

// Notify is about chat notifications.
type Notify struct {
	AllowedNetworks []string     `key:"allowed_networks" else:"none"`
	ProxiedHosts    []string     `key:"proxied_hosts" default:"hooks.slack.com,*.logic.azure.com,*.api.powerplatform.com"`
	ChannelRate     float64      `key:"channel_rate" default:"1"`
	ChannelBurst    int          `key:"channel_burst" default:"4"`
	MaxAge          Duration     `key:"max_age" default:"7d"`
	MaxWaiting      int          `key:"max_waiting" default:"10000"`
	DigestAbove     int          `key:"digest_above" default:"20"`
	Connections     []Connection `key:"connections"`
}

func (Notify) words() map[string]string {
	return map[string]string{
		"allowed_networks": "CIDRs or host names that webhook URLs may use besides public addresses, each with a port (10.0.0.0/8:443, " +
			"[fd00::/8]:443, chat.example.com:8443) or, without one, on every port. Plain http is allowed for them. What answers there is " +
			"shown to administrators only; others see the status.",
		"proxied_hosts": "Host names that may be requested through a proxy even if this server cannot resolve them; *.example.com stands " +
			"for every name below example.com. Used only with a proxy.",
		"channel_rate":  "The most messages per second that are sent to one channel.",
		"channel_burst": "The most messages that are sent to one channel at once after a pause.",
		"max_age":       "How long a message may wait for its channel. Older messages fail as expired.",
		"max_waiting":   "The most messages that may wait for one channel. Above that, the oldest fail as expired.",
		"digest_above":  "How many messages may wait for one channel before they are combined into digests of up to 50. 0 turns digests off.",
		"connections":   "The code-hosting platforms to receive webhooks from. Connections declared here can be changed only here.",
	}
}

// Connection is a code-hosting platform whose webhooks come in at
// /hooks/{name}.
type Connection struct {
	Name          string       `key:"name"`
	Kind          string       `key:"kind"`
	BaseURL       string       `key:"base_url"`
	User          string       `key:"user"`
	Token         secret.Value `key:"token"`
	TokenExpires  Date         `key:"token_expires" else:"none"`
	Manage        bool         `key:"manage_webhooks" default:"false"`
	ClientID      string       `key:"oauth_client_id"`
	ClientSecret  secret.Value `key:"oauth_client_secret"`
	SecretExpires Date         `key:"oauth_client_secret_expires" else:"none"`
	WebhookSecret secret.Value `key:"webhook_secret"`
	Unsigned      bool         `key:"unsigned" default:"false"`
}

func (Connection) words() map[string]string {
	return map[string]string{
		"name":     "The name of the connection, also used in its webhook URL /hooks/NAME: lower-case letters, digits and dashes.",
		"kind":     "The kind of platform: bitbucket-dc for the self-hosted edition, bitbucket-cloud for the cloud edition.",
		"base_url": "The base URL of the platform. Links in messages begin with it.",
		"user": "The account for the platform's REST API, which is asked for groups and builds. Leave it out if token is an HTTP access " +
			"token.",
		"token":         "The password or token of the account. Without it, the REST API is not used.",
		"token_expires": "The day on which the token ends, such as 2027-01-31. The overview says so 30, 7 and 1 days before.",
		"manage_webhooks": "Whether Outrigger creates a webhook in every project of the platform. The account must administer the projects. " +
			"Outrigger changes nothing else on the platform.",
		"oauth_client_id": "With kind bitbucket-cloud, the key of the OAuth consumer with which users authorise their accounts. With kind " +
			"bitbucket-dc, the client id of the incoming application link with which users sign in on the platform's pages, if " +
			"identity.platform names this connection.",
		"oauth_client_secret":         "The secret of the OAuth consumer or of the application link.",
		"oauth_client_secret_expires": "The day on which that secret ends, as for token_expires.",
		"webhook_secret":              "The secret with which the platform signs its webhooks.",
		"unsigned":                    "Whether to accept unsigned webhooks when there is no webhook_secret.",
	}
}

// KindBitbucketDC is the kind of a self-hosted platform, KindBitbucketCloud that
// of the cloud platform.
const (
	KindBitbucketDC    = "bitbucket-dc"
	KindBitbucketCloud = "bitbucket-cloud"
)
