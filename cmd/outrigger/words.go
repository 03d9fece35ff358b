package main

import "github.com/alecthomas/kong"

// words are what help says where a tag would be too long with it, by the names in
// the tags.
func words() kong.Vars {
	return kong.Vars{
		"again": "Send the event as a new one, even if the server received the same body within the last 10 minutes. White space is " +
			"added to the end of the body.",
		"area": "Only changes in this area: notifications, mail, threads, identity or system.",
		"confirm": "Make a one-time code for a user whose identity provider does not say when users sign in: the user sets up a first " +
			"second factor with it.",
		"delivery_state": "Only deliveries in this state: deciding, waiting, delivered, failed or cancelled.",
		"dialect": "The kind of regular expression: java (self-hosted rules; must match the whole name) or javascript (cloud rules; may " +
			"match any part of the name).",
		"mapped_site": "The cloud site that the id mappings report is for: --cloud-site-url of outrigger threads id-mappings. It is " +
			"compared with the target.",
		"outcome":       "Only events with this outcome: taken, not_taken, silent, unknown or not_understood.",
		"permission":    "SYS_ADMIN, ADMIN, PROJECT_ADMIN, REPO_ADMIN.",
		"remove_factor": "Remove the authenticator app, passkeys and recovery codes of a user. The user's sessions end.",
		"report_format": "The message as it would be sent to Teams or Slack, or an HTML page that shows it. Default: the figures and a " +
			"line for each inactive pull request.",
		"restore_mode": "merge keeps threads that are not in the backup, replace deletes them.",
		"rotate": "Encrypt stored secrets with a new key. If secret_key is set, set it to the new key and secret_key_previous to the old " +
			"one first. Otherwise stop the server; a new secret.key is created.",
		"scope": "What the token allows: all, read, backup, monitoring, builds or mail. Monitoring and mail need ADMIN.",
		"test_channel": "Try it with a test message. If the chat platform takes it, a broken channel opens again; else nothing is " +
			"cancelled.",
		"user":  "The user's name. Of a platform or a provider, it has the source before it: main:ann or oidc:ann.",
		"which": "Which waiting messages to send: all, recent (the last 24 hours) or none. The others are cancelled.",
	}
}
