package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a pod that runs.
type process struct {
	api      *api
	pod      pod
	number   int // of its address
	command  *exec.Cmd
	asked    atomic.Bool // to end
	stopping sync.Once
	ended    chan struct{}
	wrong    error // once it has ended
}

// The cluster refuses addresses of this machine, so each pod has another there.
func inCluster(number int) string        { return fmt.Sprintf("10.90.0.%d", number) }
func onThisMachine(number string) string { return "127.90.0." + number + ":8090" }

func (p *process) address() string { return onThisMachine(fmt.Sprint(p.number)) }

func (p *process) say(format string, args ...any) {
	fmt.Printf("%s %s: %s\n", time.Now().Format("15:04:05.000"), p.pod.Metadata.Name, fmt.Sprintf(format, args...))
}

// start writes the files that the pod mounts, and starts the program with its arguments.
func (p *process) start(ctx context.Context, program, folder string) error {
	home := filepath.Join(folder, p.pod.Metadata.Name) // its volume, which outlives it
	if err := os.MkdirAll(filepath.Join(home, "data"), 0o700); err != nil {
		return err
	}
	here := strings.NewReplacer("/etc/outrigger/", home+"/", "/run/secrets/outrigger/", folder+"/secrets/", "/var/lib/outrigger", home+"/data")
	for _, v := range p.pod.Spec.Volumes {
		if v.ConfigMap == nil {
			continue
		}
		var files struct{ Data map[string]string }
		if err := p.api.ask(ctx, http.MethodGet, namespace+"/configmaps/"+v.ConfigMap.Name, nil, &files); err != nil {
			return err
		}
		for name, text := range files.Data {
			if err := os.WriteFile(filepath.Join(home, name), []byte(here.Replace(text)), 0o600); err != nil {
				return err
			}
		}
	}
	c := p.pod.Spec.Containers[0]
	log, err := os.OpenFile(filepath.Join(home, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.command = exec.Command(program)
	for _, a := range c.Args {
		p.command.Args = append(p.command.Args, here.Replace(a))
	}
	p.command.Env = []string{"OUTRIGGER_LISTEN=" + p.address()}
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.name" {
			value = p.pod.Metadata.Name
		}
		p.command.Env = append(p.command.Env, e.Name+"="+value)
	}
	p.command.Stdout, p.command.Stderr = log, log
	if err := p.command.Start(); err != nil {
		return err
	}
	p.say("started from %s", c.Image)
	go func() {
		err := p.command.Wait()
		if !p.asked.Load() || err != nil {
			p.wrong = fmt.Errorf("%s ended (asked to: %v): %v", p.pod.Metadata.Name, p.asked.Load(), err)
			p.say("%v", p.wrong)
		}
		close(p.ended)
	}()
	return nil
}

// probe asks whether the process is ready, and says so of the pod.
func (p *process) probe(ctx context.Context) {
	client := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	said := false
	for {
		resp, err := client.Get("http://" + p.address() + p.pod.Spec.Containers[0].ReadinessProbe.HTTPGet.Path)
		ready := err == nil && resp.StatusCode == http.StatusOK
		if err == nil {
			_ = resp.Body.Close()
		}
		if ready != said && p.report(ctx, ready) == nil {
			said = ready
		}
		select {
		case <-p.ended:
			return
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// report has the cluster know whether the pod is ready.
func (p *process) report(ctx context.Context, ready bool) error {
	state := map[bool]string{true: "True", false: "False"}[ready]
	now := time.Now().UTC().Format(time.RFC3339)
	conditions := []object{}
	for _, kind := range []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
		c := object{"type": kind, "status": "True", "lastTransitionTime": now}
		if strings.HasSuffix(kind, "Ready") {
			c["status"] = state
		}
		conditions = append(conditions, c)
	}
	ip := inCluster(p.number)
	status := object{"phase": "Running", "conditions": conditions, "podIP": ip, "podIPs": []object{{"ip": ip}}, "startTime": now}
	p.say("ready: %v", ready)
	return p.api.ask(ctx, http.MethodPatch, namespace+"/pods/"+p.pod.Metadata.Name+"/status", object{"status": status}, nil)
}

// stop ends the process as a kubelet does: after what preStop says, within the rest of
// the time of grace.
func (p *process) stop(ctx context.Context) {
	grace := time.Duration(p.pod.Spec.TerminationGracePeriodSeconds) * time.Second
	sleep := time.Duration(p.pod.Spec.Containers[0].Lifecycle.PreStop.Sleep.Seconds) * time.Second
	p.say("is to end within %v, after %v", grace, sleep)
	time.Sleep(sleep)
	began := time.Now()
	p.asked.Store(true)
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
		p.say("ended %v after SIGTERM", time.Since(began).Round(time.Millisecond))
	case <-time.After(grace - sleep):
		p.kill()
		p.say("was killed")
	}
	now := object{"gracePeriodSeconds": 0}
	if err := p.api.ask(ctx, http.MethodDelete, namespace+"/pods/"+p.pod.Metadata.Name, now, nil); err != nil {
		p.say("%v", err)
	}
}

func (p *process) kill() { _ = p.command.Process.Kill() } // it may have ended
