package main

import "time"

// configOf is how a container of the image runs: github.com/opencontainers/image-spec.
func configOf(r release, arch string, layers []descriptor) map[string]any {
	var ids []string
	var history []map[string]any
	for i, l := range layers {
		ids = append(ids, l.diffID)
		history = append(history, map[string]any{
			"created": r.made, "created_by": []string{"users and certificates", "outrigger " + r.version}[i],
		})
	}
	return map[string]any{
		"created": r.made, "architecture": arch, "os": "linux",
		"rootfs": map[string]any{"type": "layers", "diff_ids": ids}, "history": history,
		"config": map[string]any{
			"User":         "65532:65532",
			"ExposedPorts": map[string]any{"8090/tcp": struct{}{}, "2525/tcp": struct{}{}},
			"Env":          []string{"PATH=/usr/bin", "OUTRIGGER_DATA_DIR=/var/lib/outrigger", "OUTRIGGER_LISTEN=:8090"},
			"Entrypoint":   []string{"/usr/bin/outrigger"},
			"Cmd":          []string{"serve"},
			"Volumes":      map[string]any{"/var/lib/outrigger": struct{}{}},
			"WorkingDir":   "/var/lib/outrigger",
			"Labels":       r.labels(),
			"StopSignal":   "SIGTERM",
			// Not of the specification; Docker and Podman read it, with its times in nanoseconds.
			"Healthcheck": map[string]any{
				"Test": []string{"CMD", "/usr/bin/outrigger", "healthcheck"}, "Interval": 30 * time.Second, "Timeout": 10 * time.Second,
				"StartPeriod": time.Minute, "Retries": 3,
			},
		},
	}
}

func (r release) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "Outrigger",
		"org.opencontainers.image.description": "Chat notifications, mail queue and threaded comments beside an issue tracker",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.revision":    r.commit,
		"org.opencontainers.image.created":     r.made.Format(time.RFC3339),
	}
}
