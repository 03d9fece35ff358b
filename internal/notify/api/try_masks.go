package api

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// tryMasksJSON is a rule's masks and the names to try.
type tryMasksJSON struct {
	BranchMask        string   `json:"branchMask"`
	IgnoredBranchMask string   `json:"ignoredBranchMask"`
	SourceBranchMask  string   `json:"sourceBranchMask"`
	Names             []string `json:"names"`

	DestinationBranchFilter string `json:"destinationBranchFilter"` // of rules of the cloud edition
}

// triedMaskJSON is what one of the masks says.
type triedMaskJSON struct {
	Member   string            `json:"member"`
	Deferred bool              `json:"deferred"`
	Warnings []string          `json:"warnings"`
	Branches []triedBranchJSON `json:"branches"`
}

type triedBranchJSON struct {
	Branch string `json:"branch"`
	Match  bool   `json:"match"`
	Error  string `json:"error,omitempty"`
}

// tryMasks says what masks make of branch names. It needs no permission: it
// tells nothing that is stored.
func (a *API) tryMasks(w http.ResponseWriter, r *http.Request) error {
	var (
		in    tryMasksJSON
		wrong fault.Fields
	)
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	f := notify.Filter{
		BranchMask: in.BranchMask, IgnoredBranchMask: in.IgnoredBranchMask, SourceBranchMask: in.SourceBranchMask,
		DestinationBranchFilter: in.DestinationBranchFilter,
	}
	tried, err := a.Trials.TryMasks(r.Context(), &f, in.Names, wrong)
	if err != nil {
		return err
	}
	out := make([]triedMaskJSON, len(tried))
	for i, mask := range tried {
		out[i] = triedMaskJSON{Member: mask.Member, Deferred: mask.Deferred, Warnings: append([]string{}, mask.Warnings...)}
		for _, name := range mask.Names {
			one := triedBranchJSON{Branch: name.Branch, Match: name.Match}
			if name.Err != nil {
				one.Error = name.Err.Error()
			}
			out[i].Branches = append(out[i].Branches, one)
		}
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}
