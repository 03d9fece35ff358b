// Package docs is the documentation: the pages of this folder, embedded.
package docs

import "embed"

// Pages are the Markdown files. README.md is the index, which lists all others in
// their order.
//
//go:embed *.md
var Pages embed.FS
