package api

import (
	"context"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/branchmask"
	"outrigger/internal/rest"
)

// tryMasks is a rule's masks and the names to try.
type tryMasks struct {
	BranchMask        string       `json:"branchMask,omitempty" doc:"As in a rule."`
	IgnoredBranchMask string       `json:"ignoredBranchMask,omitempty" doc:"As in a rule."`
	SourceBranchMask  string       `json:"sourceBranchMask,omitempty" doc:"As in a rule."`
	DestinationFilter string       `json:"destinationBranchFilter,omitempty" doc:"Of a rule of the cloud edition; in JavaScript's dialect."`
	Names             []string     `json:"names" min:"1" max:"20" doc:"Of up to 10,000 characters."`
	Wrong             fault.Fields `json:"-"`
}

// TriedMask is what one of the masks says.
type TriedMask struct {
	Member   string        `json:"member" enum:"branchMask,ignoredBranchMask,sourceBranchMask,destinationBranchFilter" doc:"Which mask."`
	Deferred bool          `json:"deferred" doc:"Such a mask is decided a moment after the event has come."`
	Warnings []string      `json:"warnings" doc:"What looks like a mistake in the mask, such as a wildcard."`
	Branches []TriedBranch `json:"branches" doc:"What it says of each name."`
}

// TriedBranch is what a mask says of a name.
type TriedBranch struct {
	Branch string `json:"branch" doc:"The name."`
	Match  bool   `json:"match" doc:"Whether the mask matches."`
	Error  string `json:"error,omitempty" doc:"Why nothing can be said, such as too many steps; then match says nothing."`
}

func (a *API) registerTryMasks(r *rest.Router) {
	release, cloud := tryMasks{BranchMask: "release/(?!old).*", Names: []string{"release/1.2", "main"}},
		tryMasks{DestinationFilter: "^release/", Names: []string{"release/1.2", "prerelease/1"}}
	rest.Add(r, rest.Route{Method: "POST", Path: basePath + "/filter/try-branch"}, rest.Words{
		ID: "tryBranch", Tag: "rules", Summary: "Tests masks against branch names.", Answer: "One entry a mask.",
		Text:    "As a rule with these masks does, and `outrigger notify try-branch`. Who is signed in may ask.",
		Refused: []int{http.StatusTooManyRequests},
	}, a.tryMasks, []rest.Example[tryMasks, []TriedMask]{
		{Name: "release", In: release, Out: &[]TriedMask{
			{"branchMask", true, []string{}, []TriedBranch{{Branch: "release/1.2", Match: true}, {Branch: "main"}}},
		}},
		{Name: "cloud", In: cloud, Out: &[]TriedMask{
			{"destinationBranchFilter", false, []string{}, []TriedBranch{{Branch: "release/1.2", Match: true}, {Branch: "prerelease/1"}}},
		}},
		{Name: "noMask", In: tryMasks{Names: []string{"main"}}, Err: fault.InvalidField("branchMask", "Give a mask to try.")},
	}...)
}

// tryMasks needs no permission: it tells nothing that is stored.
func (a *API) tryMasks(ctx context.Context, in tryMasks) ([]TriedMask, error) {
	tried, err := a.Trials.TryMasks(ctx, &notify.Filter{
		BranchMask: in.BranchMask, IgnoredBranchMask: in.IgnoredBranchMask, SourceBranchMask: in.SourceBranchMask,
		DestinationBranchFilter: in.DestinationFilter,
	}, in.Names, in.Wrong)
	out := make([]TriedMask, len(tried))
	for i, mask := range tried {
		out[i] = TriedMask{Member: mask.Member, Deferred: mask.Deferred, Warnings: append([]string{}, mask.Warnings...)}
		for _, name := range mask.Names {
			out[i].Branches = append(out[i].Branches, TriedBranchOf(name))
		}
	}
	return out, err
}

// TriedBranchOf is a name that was tried as the API writes it.
func TriedBranchOf(name branchmask.Tried) TriedBranch {
	out := TriedBranch{Branch: name.Branch, Match: name.Match}
	if name.Err != nil {
		out.Error = name.Err.Error()
	}
	return out
}
