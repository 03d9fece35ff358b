package accounts

import (
	"net/http"

	"outrigger/internal/identity"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
)

// codeHeader has a code of a second factor, for what a token alone is not enough
// for.
const codeHeader = "Outrigger-Code"

// confirmed takes the code that comes with a request.
func (e endpoints) confirmed(h rest.Handler) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		code := r.Header.Get(codeHeader)
		if code == "" {
			return h(w, r)
		}
		ctx, err := e.identity.ConfirmRequest(r.Context(), secret.New(code), rest.ClientAddr(r.Context()))
		if err != nil {
			return err
		}
		return h(w, r.WithContext(ctx))
	}
}

type factors struct {
	App      bool `json:"authenticatorApp"`
	Passkeys int  `json:"passkeys"`
	Recovery int  `json:"recoveryCodes"`
}

func factorsOf(f identity.Factors) factors { return factors{f.App, f.Passkeys, f.Recovery} }

func (e endpoints) removeFactors(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, e.identity.RemoveFactors(r.Context(), r.PathValue("name")))
}
