package api

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
	"outrigger/internal/rest"
)

// build is what build servers post to the platform: its own body, of which messages
// need the first six members; two more tell runs apart.
type build struct {
	Connection string `path:"connection" json:"-" doc:"The connection's name." example:"main"`
	Commit     string `path:"commit" json:"-" doc:"The whole hash of the commit." example:"9e8c7d6b5a49382716059483726150f4e3d2c1b0"`

	Key         string `json:"key" max:"255" doc:"Names the build among those of the commit."`
	State       string `json:"state" enum:"SUCCESSFUL,FAILED,INPROGRESS,CANCELLED,UNKNOWN" doc:"How it is going."`
	Name        string `json:"name,omitempty" max:"255" doc:"What people call it."`
	URL         string `json:"url,omitempty" max:"2000" doc:"The page of the build."`
	Description string `json:"description,omitempty" doc:"What the build server says of it."`
	Ref         string `json:"ref,omitempty" max:"255" doc:"The branch or tag that was built, such as refs/heads/main."`

	BuildNumber jsontext.Value `json:"buildNumber,omitempty" doc:"The run's number, a string or a number; of at most 255 characters."`
	DateAdded   jsontext.Value `json:"dateAdded,omitempty" doc:"The run's date: milliseconds since 1970, or RFC 3339."`
	Duration    jsontext.Value `json:"duration,omitempty" doc:"Taken and not used."`
	LastUpdated jsontext.Value `json:"lastUpdated,omitempty" doc:"Taken and not used."`
	Parent      jsontext.Value `json:"parent,omitempty" doc:"Taken and not used."`
	TestResults jsontext.Value `json:"testResults,omitempty" doc:"Taken and not used."`
	Wrong       fault.Fields   `json:"-"`
}

// buildOfRepository names the repository of the commit.
type buildOfRepository struct {
	build
	Project    string `path:"project" json:"-" doc:"The project's key." example:"SHOP"`
	Repository string `path:"repository" json:"-" doc:"The repository's slug." example:"api"`
}

func (a *API) registerBuilds(r *rest.Router) {
	const path = "/hooks/{connection}/builds"
	rest.Add(r, rest.Route{Method: "POST", Path: path + "/{commit}", Access: rest.Builds}, rest.Words{
		ID: "postBuildOfKnownCommit", Tag: "webhooks", Summary: "Takes the state of a build of a commit that an event named.",
		Text: "As with the repository in the path, for build servers that know the commit only. The commit must have been named by an event " +
			"(a push, a merge, a comment) of a repository that the token's owner administers, and of which a rule takes builds, within the time " +
			"that events are kept.",
		Answer: "The build is stored.", Status: http.StatusAccepted, Refused: []int{http.StatusServiceUnavailable},
		RefusedFor: map[int]string{http.StatusNotFound: "No event named the commit."},
	}, rest.Done(func(ctx context.Context, in build) error { return a.postBuild(ctx, in, notify.RepositoryRef{}) }),
		rest.Example[build, rest.None]{
			Name: "unknown", In: build{Key: "SHOP-API", State: "SUCCESSFUL"},
			Err: fault.New(fault.NotFound, "No event of a repository that you administer named the commit "+
				"9e8c7d6b5a49382716059483726150f4e3d2c1b0, or no rule there asks for builds; name the repository in the path."),
		})
	rest.Add(r, rest.Route{Method: "POST", Path: path + "/projects/{project}/repos/{repository}/commits/{commit}", Access: rest.Builds},
		rest.Words{
			ID: "postBuild", Tag: "webhooks", Summary: "Takes the state of a build of a commit.",
			Text: "The self-hosted platform sends no webhooks of builds. A build server posts what it posts to the platform, the same body, here " +
				"too. A token of scope `builds` will do; its owner administers the repository.\n\n" +
				"There is one message for each change of the last state of a repository, commit and key, whether it is posted or read from the " +
				"platform. The same state again is one where it is of another run: `url`, `buildNumber` or `dateAdded` differ from those of " +
				"before. The branch is that of `ref`; where it is missing, the one on which an event named the commit.",
			Answer: "The build is stored.", Status: http.StatusAccepted, Refused: []int{http.StatusForbidden, http.StatusServiceUnavailable},
		}, rest.Done(func(ctx context.Context, in buildOfRepository) error {
			return a.postBuild(ctx, in.build, notify.RepositoryRef{ProjectKey: in.Project, RepositoryKey: in.Repository})
		}), rest.Example[buildOfRepository, rest.None]{Name: "failed", In: buildOfRepository{build: build{
			Key: "SHOP-API", State: "FAILED", Name: "API #41", URL: "https://ci.example.com/job/api/41/", Description: "3 of 212 tests failed",
			Ref: "refs/heads/main",
		}}})
}

func (a *API) postBuild(ctx context.Context, in build, at notify.RepositoryRef) error {
	number, added := payload.TextOf(in.BuildNumber), payload.TimeOf(in.DateAdded)
	b := notify.PlatformBuild{Ref: in.Ref, Number: number, Added: added, Build: notify.Build{
		Commit: in.Commit, Key: in.Key, Name: in.Name, State: rest.Key(in.State), Description: in.Description, URL: in.URL,
	}}
	if len(in.Wrong) > 0 {
		return fault.Every(in.Wrong.Err(), b.Validate())
	}
	return a.Builds.Post(ctx, in.Connection, at, b)
}
