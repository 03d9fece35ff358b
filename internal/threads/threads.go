// Package threads is threaded comment migration: the parent/child structure of
// comments, from a self-hosted instance to a cloud one.
//
// The words of the wing are Record (a comment and the one it answers), IDMapping
// (an entity's id there and here) and Migration (one data set on its way to the
// target). Files come in through the package upload, are read by
// the package format, are joined and cut into chunks by the package staging, and
// are written to a target by the package processing: the embedded one of Store,
// or the issue properties of the package jiracloud.
package threads
