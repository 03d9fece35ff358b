// Command kubelet runs the pods of a cluster that has no nodes: each as a process of
// the program, with the configuration, the probes and the signals that a kubelet would
// give it. It plays an ingress too, which sends each request to an endpoint of the
// service that is ready:
// kubelet API TOKEN CA SERVICE LISTEN PROGRAM FOLDER. FOLDER/secrets has the secret.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 7 {
		return errors.New("usage: kubelet API TOKEN CA SERVICE LISTEN PROGRAM FOLDER")
	}
	api, err := newAPI(args[0], args[1], args[2])
	if err != nil {
		return err
	}
	n := &node{api: api, program: args[5], folder: args[6], pods: map[string]*process{}}
	go ingress(ctx, api, args[3], args[4]) // ends with the program
	return n.run(ctx)
}
