package api

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

// operate is the endpoint of an operation.
func (a *Admin) operate(op threads.Operation) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		accept, err := flag(r, "acceptIncomplete")
		if err != nil {
			return err
		}
		other, err := flag(r, "acceptOtherSite")
		if err != nil {
			return err
		}
		wish := threads.Wish{AcceptIncomplete: accept, AcceptOtherSite: other}
		if (op == threads.OpUpload || op == threads.OpStart) && r.ContentLength != 0 {
			if err := rest.ReadJSON(r, &wish.Drafts); err != nil {
				return err
			}
		}
		m, err := a.Operate(r.Context(), op, wish)
		if err != nil {
			return err
		}
		s, err := a.StatusOf(r.Context(), &m)
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusAccepted, s)
	}
}

func (a *Admin) status(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Status(r.Context())
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, s)
}

// stageJSON is how far a preview is.
type stageJSON struct {
	State string  `json:"state"` // wanted or running
	Step  string  `json:"step,omitempty"`
	Done  float64 `json:"done"` // of 1
}

func (a *Admin) preview(w http.ResponseWriter, r *http.Request) error {
	st, err := a.Store.Preview(r.Context())
	switch {
	case err != nil:
		return err
	case st.State == threads.StageFailed:
		return fault.New(fault.Invalid, "%s", st.Message)
	case st.Preview == nil:
		return later(w, r, stageJSON{st.State, st.Step, st.Done})
	}
	return rest.WriteJSON(w, r, http.StatusOK, previewJSON{st.Preview, st.Drafts(), threads.SitesOf(st.Site(), a.Store.Target())})
}

// previewJSON is a preview, the files that it is of, and the sites.
type previewJSON struct {
	*threads.Preview
	Drafts threads.Drafts `json:"drafts"`
	Sites  threads.Sites  `json:"sites"`
}
