package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// api is the API of the cluster, with the rights of an administrator.
type api struct {
	url, token string
	client     *http.Client
}

func newAPI(url, token, ca string) (*api, error) {
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	return &api{url, token, &http.Client{Transport: transport, Timeout: 10 * time.Second}}, nil
}

// ask sends in, where it is not nil, and reads the answer into out, where that is not nil.
func (a *api) ask(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

const namespace = "/api/v1/namespaces/default"

// object is what is asked of a thing of the cluster.
type object map[string]any

// pod is what is read of one.
type pod struct {
	Metadata struct {
		Name, UID         string
		DeletionTimestamp string
	}
	Spec struct {
		NodeName                      string
		TerminationGracePeriodSeconds int
		Containers                    []container
		Volumes                       []struct {
			Name      string
			ConfigMap *struct{ Name string }
		}
	}
}

type container struct {
	Image string
	Args  []string
	Env   []struct {
		Name, Value string
		ValueFrom   *struct{ FieldRef struct{ FieldPath string } }
	}
	ReadinessProbe struct{ HTTPGet struct{ Path string } }
	Lifecycle      struct {
		PreStop struct{ Sleep struct{ Seconds int } }
	}
}
