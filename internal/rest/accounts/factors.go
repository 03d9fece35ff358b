package accounts

import (
	"net/http"

	"outrigger/internal/identity"
)

type factors struct {
	App      bool `json:"authenticatorApp"`
	Passkeys int  `json:"passkeys"`
	Recovery int  `json:"recoveryCodes"`
}

func factorsOf(f identity.Factors) factors { return factors{f.App, f.Passkeys, f.Recovery} }

func (e endpoints) removeFactors(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, e.identity.RemoveFactors(r.Context(), r.PathValue("name")))
}
