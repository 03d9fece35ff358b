// Package admin has the operations on the rules, channels, deliveries, reports and
// connections of chat notifications. It lists and saves them, each operation with its
// permission check and its audit entry. The packages api and pages expose them.
package admin
