package api

import (
	"net/http"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

func (a *API) registerNodes(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: nodesPath, Access: rest.Admins}, a.listNodes)
	r.Handle(rest.Route{Method: "DELETE", Path: nodesPath + "/{id}", Access: rest.SysAdmins}, a.removeNode)
	r.Handle(rest.Route{Method: "POST", Path: nodesPath + "/{id}/drain", Access: rest.SysAdmins}, a.drainNode)
	r.Handle(rest.Route{Method: "POST", Path: nodesPath + "/{id}/resume", Access: rest.SysAdmins}, a.resumeNode)
	r.Handle(rest.Route{Method: "POST", Path: nodesPath + "/{id}/handover", Access: rest.SysAdmins}, a.handOver)
}

// nodeJSON is a node as Outrigger's own API writes it: what the mail queue API
// has no place for.
type nodeJSON struct {
	NodeID    string        `json:"nodeId"`
	State     cluster.State `json:"nodeState"`
	Watched   bool          `json:"watched"`
	Self      bool          `json:"self"`
	Address   string        `json:"address,omitempty"`
	Version   string        `json:"version,omitempty"`
	StartedAt time.Time     `json:"startedAt,omitzero"`
	SeenAt    time.Time     `json:"seenAt,omitzero"`
	ChangedAt time.Time     `json:"changedAt,omitzero"`

	Source       string              `json:"source,omitempty"`
	MailQueue    mailqueue.MailQueue `json:"mailQueue"`
	SampledAt    time.Time           `json:"sampledAt,omitzero"`
	SampleAge    *float64            `json:"sampleAge,omitempty"` // seconds
	SampleError  string              `json:"sampleError,omitempty"`
	FailingSince time.Time           `json:"failingSince,omitzero"`
	OldestAt     time.Time           `json:"oldestAt,omitzero"`
	Verdict      mailqueue.Verdict   `json:"verdict"`
	Reason       string              `json:"reason,omitempty"`
}

func (a *API) listNodes(w http.ResponseWriter, r *http.Request) error {
	list, err := a.Service.NodeStatuses(r.Context())
	if err != nil {
		return err
	}
	// All of them: clusters are too small for pages.
	out := rest.List[nodeJSON]{Items: make([]nodeJSON, len(list))}
	for i := range list {
		out.Items[i] = nodeOf(&list[i])
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func nodeOf(s *mailqueue.NodeStatus) nodeJSON {
	out := nodeJSON{
		NodeID: s.ID, State: s.State, Watched: s.Watched, Self: s.Self, Address: s.Address, Version: s.Version,
		StartedAt: s.StartedAt, SeenAt: s.BeatAt, ChangedAt: s.ChangedAt,
		Source: s.Source, MailQueue: mailqueue.MailQueue{Size: s.Size, ErrorSize: s.ErrorSize}, SampledAt: s.At, SampleError: s.Error, FailingSince: s.FailingAt,
		OldestAt: s.Oldest(),
	}
	if age, ok := s.Age(); ok {
		seconds := age.Seconds()
		out.SampleAge = &seconds
	}
	out.Verdict, out.Reason = s.Judge()
	return out
}

func (a *API) drainNode(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, a.Service.Drain(r.Context(), r.PathValue("id")))
}

func (a *API) resumeNode(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, a.Service.Resume(r.Context(), r.PathValue("id")))
}

func (a *API) removeNode(w http.ResponseWriter, r *http.Request) error {
	return noContent(w, a.Service.Remove(r.Context(), r.PathValue("id")))
}

func (a *API) handOver(w http.ResponseWriter, r *http.Request) error {
	var (
		in struct {
			To string `json:"to"`
		}
		wrong fault.Fields
	)
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	n, err := a.Service.Handover(r.Context(), r.PathValue("id"), in.To, wrong)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, countJSON{n})
}
