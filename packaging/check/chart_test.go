// Package check holds the chart, the compose file and the lists of parts against the
// programs and types that read them. It is a module of its own, since the product needs
// none of these.
package check

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"
)

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load("../chart")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render returns what the chart makes of values, by kind; an unknown field or kind is
// an error.
func render(t *testing.T, values string) map[string][]runtime.Object {
	t.Helper()
	files, err := renderFiles(load(t), values)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	made := map[string][]runtime.Object{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq(files[name], "\n---\n") {
			if strings.TrimSpace(document) == "" {
				continue
			}
			object, kind, err := strict.Decode([]byte(document), nil, nil)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			made[kind.Kind] = append(made[kind.Kind], object)
		}
	}
	return made
}

func renderFiles(c *chart.Chart, values string) (map[string]string, error) {
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "chat", Namespace: "tools", IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(c, all)
}

func nodes(t *testing.T, made map[string][]runtime.Object) *appsv1.StatefulSet {
	t.Helper()
	if len(made["StatefulSet"]) != 1 {
		t.Fatalf("there are %d stateful sets", len(made["StatefulSet"]))
	}
	return made["StatefulSet"][0].(*appsv1.StatefulSet)
}

func TestOneNode(t *testing.T) {
	made := render(t, "")
	set := nodes(t, made)
	pod := set.Spec.Template.Spec
	c := pod.Containers[0]
	if *set.Spec.Replicas != 1 || !*pod.SecurityContext.RunAsNonRoot || !*c.SecurityContext.ReadOnlyRootFilesystem || *c.SecurityContext.AllowPrivilegeEscalation {
		t.Errorf("it runs as %+v %+v", pod.SecurityContext, c.SecurityContext)
	}
	if c.Image != "outrigger:v0.0.0" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("it is %s, asked at %s", c.Image, c.ReadinessProbe.HTTPGet.Path)
	}
	if len(made["Service"]) != 2 || len(made["ConfigMap"]) != 1 || len(made["Ingress"]) != 0 || len(made["PodDisruptionBudget"]) != 0 {
		t.Errorf("it makes %v", slices.Sorted(maps.Keys(made)))
	}
}

const three = `
replicas: 3
baseURL: https://tools.example.com/outrigger
secretName: keys
image: {repository: images.example.com/outrigger, tag: v9}
mail: {enabled: true, port: 2626}
ingress: {enabled: true, className: nginx, tlsSecretName: tls, annotations: {a: b}}
persistence: {size: 1Gi, storageClassName: fast}
podAnnotations: {c: d}
nodeSelector: {e: f}
tolerations: [{key: g, operator: Exists}]
imagePullSecrets: [{name: pull}]
settings:
  mail: {plain_auth: true}
  notify:
    connections: [{name: code, kind: bitbucket-dc, base_url: "https://code.example.com", webhook_secret_file: /run/secrets/outrigger/webhook-secret}]
`

func TestThreeNodes(t *testing.T) {
	made := render(t, three)
	c := nodes(t, made).Spec.Template.Spec.Containers[0]
	if c.Image != "images.example.com/outrigger:v9" || c.LivenessProbe.HTTPGet.Path != "/outrigger/healthz" || len(c.Ports) != 2 {
		t.Errorf("the container is %+v", c)
	}
	in := made["Ingress"][0].(*networkingv1.Ingress).Spec
	if in.Rules[0].Host != "tools.example.com" || in.Rules[0].HTTP.Paths[0].Path != "/outrigger" || in.TLS[0].SecretName != "tls" {
		t.Errorf("the ingress is %+v", in)
	}
	if len(made["PodDisruptionBudget"]) != 1 {
		t.Error("all nodes may go at once")
	}
	var settings struct {
		BaseURL string `json:"base_url"`
		Mail    struct {
			Listen    string `json:"listen"`
			PlainAuth bool   `json:"plain_auth"`
		}
		Cluster struct{ Enabled bool }
		URL     string `json:"database_url_file"`
		Notify  struct{ Connections []any }
	}
	if err := yaml.Unmarshal([]byte(made["ConfigMap"][0].(*corev1.ConfigMap).Data["outrigger.yaml"]), &settings); err != nil {
		t.Fatal(err)
	}
	if settings.BaseURL != "https://tools.example.com/outrigger" || settings.Mail.Listen != ":2626" || !settings.Mail.PlainAuth || !settings.Cluster.Enabled ||
		settings.URL != "/run/secrets/outrigger/database-url" || len(settings.Notify.Connections) != 1 {
		t.Errorf("the settings are %+v", settings)
	}
}

// What cannot run is refused before it is installed.
func TestRefusedValues(t *testing.T) {
	for values, want := range map[string]string{
		"replicas: 2":                      "several nodes need secretName",
		"replicas: 0":                      "replicas",
		"baseURL: outrigger.example.com":   "baseURL",
		"replica: 2":                       "replica",
		"mail: {enabled: true, port: 25}":  "port",
		"image: {repository: '', tag: v1}": "repository",
	} {
		if _, err := renderFiles(load(t), values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", values, err)
		}
	}
}
