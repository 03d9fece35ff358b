package api

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
	"outrigger/internal/rest"
)

// buildJSON is the body that build servers post to the platform, of which
// messages need the first six; two more tell runs apart.
type buildJSON struct {
	Key         string `json:"key"`
	State       string `json:"state"`
	Name        string `json:"name"`
	URL         string `json:"url"`
	Description string `json:"description"`
	Ref         string `json:"ref"`

	BuildNumber jsontext.Value `json:"buildNumber"`
	DateAdded   jsontext.Value `json:"dateAdded"`
	Duration    jsontext.Value `json:"duration"`
	LastUpdated jsontext.Value `json:"lastUpdated"`
	Parent      jsontext.Value `json:"parent"`
	TestResults jsontext.Value `json:"testResults"`
}

func (a *API) registerBuilds(r *rest.Router) {
	for _, path := range []string{"/{commit}", "/projects/{project}/repos/{repository}/commits/{commit}"} {
		r.Handle(rest.Route{Method: "POST", Path: "/hooks/{connection}/builds" + path, Access: rest.Builds}, a.postBuild)
	}
}

func (a *API) postBuild(w http.ResponseWriter, r *http.Request) error {
	var (
		in    buildJSON
		wrong fault.Fields
	)
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	at := notify.RepositoryRef{ProjectKey: r.PathValue("project"), RepositoryKey: r.PathValue("repository")}
	b := notify.PlatformBuild{Ref: in.Ref, Number: payload.New(in.BuildNumber).Text(), Added: payload.New(in.DateAdded).Time(), Build: notify.Build{
		Commit: r.PathValue("commit"), Key: in.Key, Name: in.Name, State: rest.Key(in.State), Description: in.Description, URL: in.URL,
	}}
	if len(wrong) > 0 {
		return fault.Every(wrong.Err(), b.Validate())
	}
	if err := a.Builds.Post(r.Context(), r.PathValue("connection"), at, b); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
