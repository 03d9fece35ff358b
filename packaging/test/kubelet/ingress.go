package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httputil"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// late is how long an ingress takes to learn that an endpoint is gone.
const late = 2 * time.Second

// ingress passes requests on to the ready endpoints of a service, one after the other.
func ingress(ctx context.Context, api *api, service, listen string) {
	var ready atomic.Pointer[[]string]
	ready.Store(&[]string{})
	go func() {
		for tick := time.NewTicker(late); ; <-tick.C {
			if list, err := endpoints(ctx, api, service); err == nil {
				ready.Store(&list)
			}
		}
	}()
	var next atomic.Uint64
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{DisableKeepAlives: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			list := *ready.Load()
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "127.0.0.1:1" // where nothing listens
			if len(list) > 0 {
				r.Out.URL.Host = list[next.Add(1)%uint64(len(list))]
			}
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(listen, proxy))
}

// endpoints are the addresses of the ready ones.
func endpoints(ctx context.Context, api *api, service string) (ready []string, err error) {
	var slices struct {
		Items []struct {
			Endpoints []struct {
				Addresses  []string
				Conditions struct{ Ready bool }
			}
		}
	}
	path := "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name%3D" + service
	if err := api.ask(ctx, http.MethodGet, path, nil, &slices); err != nil {
		return nil, err
	}
	for _, s := range slices.Items {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready {
				ready = append(ready, onThisMachine(e.Addresses[0][strings.LastIndex(e.Addresses[0], ".")+1:]))
			}
		}
	}
	return ready, nil
}
