// Package admin is what people do with the rules, channels, deliveries, reports and
// connections of chat notifications: it lists and saves them, each operation with its
// permission check and its audit entry. The packages api and pages show it.
package admin
