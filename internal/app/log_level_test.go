package app

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/reload"
)

// The level of the log is set while the server runs, until it reads its settings
// again.
func TestLogLevelAtRunTime(t *testing.T) {
	t.Parallel()
	r := startReloadable(t)
	expect := func(name string, level slog.Level) {
		t.Helper()
		if r.level.Level() != level {
			t.Errorf("it logs from %v on", r.level.Level())
		}
		if _, body := get(t, r.URL()+reload.LevelPath, asAdmin); body != `{"level":"`+name+`"}` {
			t.Errorf("it says %s", body)
		}
	}
	set := func(level string, want int) {
		t.Helper()
		if status, body := put(t, r.App, "PUT", reload.LevelPath, `{"level":"`+level+`"}`); status != want {
			t.Errorf("%s: %d %s", level, status, body)
		}
	}
	expect("info", slog.LevelInfo)
	set("DEBUG", http.StatusOK)
	set("debug", http.StatusOK)
	expect("debug", slog.LevelDebug)
	set("loud", http.StatusBadRequest)
	expect("debug", slog.LevelDebug)
	if _, body := get(t, r.URL()+"/rest/outrigger/1.0/audit?object=log+level", asAdmin); strings.Count(body, `"object":"log level"`) != 1 ||
		!strings.Contains(body, `"before":{"level":"info"}`) || !strings.Contains(body, `"after":{"level":"debug"}`) {
		t.Errorf("the audit trail has %s", body)
	}
	if got := r.reload(t); len(got.Changed) != 1 || got.Changed[0] != (config.ChangedSetting{Setting: "log.level", Text: "debug, now info"}) {
		t.Errorf("a reload changes %+v", got.Changed)
	}
	expect("info", slog.LevelInfo)
}
