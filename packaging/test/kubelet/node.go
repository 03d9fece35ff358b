package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"
)

const (
	name  = "played"
	every = 200 * time.Millisecond
)

// node runs all pods of the namespace.
type node struct {
	api             *api
	program, folder string
	pods            map[string]*process // by UID
	addresses       int                 // given so far
}

func (n *node) run(ctx context.Context) error {
	if err := n.api.ask(ctx, http.MethodPost, "/api/v1/nodes", object{"metadata": object{"name": name}}, nil); err != nil {
		return err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := n.look(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "kubelet:", err)
		}
		select {
		case <-ctx.Done():
			return n.end()
		case <-tick.C:
		}
	}
}

// look starts pods that are new, and has those end that are deleted.
func (n *node) look(ctx context.Context) error {
	var list struct{ Items []pod }
	if err := n.api.ask(ctx, http.MethodGet, namespace+"/pods", nil, &list); err != nil {
		return err
	}
	for _, p := range list.Items {
		process := n.pods[p.Metadata.UID]
		switch deleted := p.Metadata.DeletionTimestamp != ""; {
		case process == nil && !deleted:
			if err := n.start(ctx, p); err != nil {
				return err
			}
		case process != nil && deleted:
			process.stopping.Do(func() { go process.stop(context.WithoutCancel(ctx)) })
		}
	}
	return nil
}

func (n *node) start(ctx context.Context, p pod) error {
	binding := object{"metadata": object{"name": p.Metadata.Name}, "target": object{"kind": "Node", "name": name}}
	if err := n.api.ask(ctx, http.MethodPost, namespace+"/pods/"+p.Metadata.Name+"/binding", binding, nil); err != nil {
		return err
	}
	n.addresses++
	process := &process{api: n.api, pod: p, number: n.addresses, ended: make(chan struct{})}
	if err := process.start(ctx, n.program, n.folder); err != nil {
		return err
	}
	n.pods[p.Metadata.UID] = process
	go process.probe(ctx)
	return nil
}

// end ends all processes, and reports those that ended before they were asked to, or too late.
func (n *node) end() (err error) {
	for _, p := range n.pods {
		p.stopping.Do(func() {
			p.asked.Store(true)
			_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended
		})
		<-p.ended
		if p.wrong != nil {
			err = p.wrong
		}
	}
	return err
}
