package app

import (
	"net/http"
	"strings"
	"testing"
)

// Who administers behind a proxy that is not listed learns of it, with the line to
// add.
func TestTheOverviewNamesProxiesThatAreNotListed(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	const want = "127.0.0.1 sends X-Forwarded-For and is not in trusted_proxies"
	if _, page := consolePage(t, a, "/", nil); strings.Contains(page, "trusted_proxies") {
		t.Error("without a proxy, one is named")
	}
	for range 3 {
		get(t, a.URL()+"/sign-in", func(r *http.Request) { r.Header.Set("X-Forwarded-For", "198.51.100.1") })
	}
	_, page := consolePage(t, a, "/", nil)
	wants(t, "the overview", page, want)
	wants(t, "the overview", page, "trusted_proxies: [&#34;127.0.0.1/32&#34;]")
	if n := strings.Count(page, want); n != 1 {
		t.Errorf("it is named %d times", n)
	}
}
