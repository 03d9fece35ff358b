package main

import "time"

// imageConfig is how a container of the image runs.
type imageConfig struct {
	Created      time.Time `json:"created"`
	Architecture string    `json:"architecture"`
	OS           string    `json:"os"`
	Config       settings  `json:"config"`
	RootFS       rootFS    `json:"rootfs"`
	History      []history `json:"history"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

type settings struct {
	User         string              `json:"User"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts"`
	Env          []string            `json:"Env"`
	Entrypoint   []string            `json:"Entrypoint"`
	Cmd          []string            `json:"Cmd"`
	Volumes      map[string]struct{} `json:"Volumes"`
	WorkingDir   string              `json:"WorkingDir"`
	Labels       map[string]string   `json:"Labels"`
	StopSignal   string              `json:"StopSignal"`
	Healthcheck  healthcheck         `json:"Healthcheck"` // not of the specification; Docker and Podman read it
}

// healthcheck has its times in nanoseconds.
type healthcheck struct {
	Test        []string
	Interval    time.Duration
	Timeout     time.Duration
	StartPeriod time.Duration
	Retries     int
}

func configOf(r release, arch string, layers []descriptor) imageConfig {
	c := imageConfig{Created: r.made, Architecture: arch, OS: "linux", RootFS: rootFS{Type: "layers"}}
	for i, l := range layers {
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, l.diffID)
		c.History = append(c.History, history{r.made, []string{"users and certificates", "outrigger " + r.version}[i]})
	}
	c.Config = settings{
		User:         "65532:65532",
		ExposedPorts: map[string]struct{}{"8090/tcp": {}, "2525/tcp": {}},
		Env:          []string{"PATH=/usr/bin", "OUTRIGGER_DATA_DIR=/var/lib/outrigger", "OUTRIGGER_LISTEN=:8090"},
		Entrypoint:   []string{"/usr/bin/outrigger"},
		Cmd:          []string{"serve"},
		Volumes:      map[string]struct{}{"/var/lib/outrigger": {}},
		WorkingDir:   "/var/lib/outrigger",
		Labels:       r.labels(),
		StopSignal:   "SIGTERM",
		Healthcheck: healthcheck{
			Test: []string{"CMD", "/usr/bin/outrigger", "healthcheck"}, Interval: 30 * time.Second, Timeout: 10 * time.Second,
			StartPeriod: time.Minute, Retries: 3,
		},
	}
	return c
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
