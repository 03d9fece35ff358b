// Command outrigger runs and administers three services beside a self-hosted
// issue tracker or code-hosting platform: chat notifications, an outgoing mail
// queue, and the migration of threaded comments. See `outrigger --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// version is set by release builds: -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() {
	runtime.MemProfileRate = 0 // no profile of the heap is ever written, and sampling for one takes 2 MiB
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}
