package pages

import (
	"net/http"
	"strconv"

	"outrigger/internal/cluster"
	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue"
)

const systemNodes = "/system/nodes"

func (p *Pages) registerNodes(c *console.Console) {
	c.AddNav(console.Nav{Section: "System", Label: "Nodes", Path: systemNodes, Visible: administers})
	look, may := console.Needs(identity.Admin), console.Needs(identity.SysAdmin)
	c.Handle("GET "+systemNodes, look, p.listNodes, "mail-nodes")
	c.Handle("GET "+systemNodes+"/{id}/{what}", may, p.confirmNode)
	c.Handle("POST "+systemNodes+"/{id}/drain", may, p.drain)
	c.Handle("POST "+systemNodes+"/{id}/resume", may, p.resumeNode)
	c.Handle("POST "+systemNodes+"/{id}/handover", may, p.handOver)
	c.Handle("POST "+systemNodes+"/{id}/remove", may, p.remove)
}

type nodeRow struct {
	mailqueue.NodeStatus
	Badge console.Badge
	// What can be done with it now.
	Drain, Resume, Handover, Remove bool
}

func (p *Pages) listNodes(r *http.Request) (console.Response, error) {
	list, err := p.Service.NodeStatuses(r.Context())
	if err != nil {
		return nil, err
	}
	may := identity.From(r.Context()).May(identity.SysAdmin, identity.Resource{})
	view := struct{ Rows []nodeRow }{}
	for _, s := range list {
		row := nodeRow{NodeStatus: s, Badge: stateBadge(s.State)}
		if may && !s.Watched {
			row.Drain = s.State == cluster.Active
			row.Resume = s.State == cluster.Passive || s.State == cluster.Passivating
			row.Remove = s.State == cluster.Offline
			row.Handover = !s.Self && s.Queue != nil && s.Queue.Sizes != (mailqueue.Sizes{}) &&
				(s.State == cluster.Offline || s.State == cluster.Passive)
		}
		view.Rows = append(view.Rows, row)
	}
	return console.Page{Template: "mail-nodes", Title: "Nodes", Data: view}, nil
}

// confirmNode asks before a node is drained, removed or its messages handed
// over.
func (p *Pages) confirmNode(r *http.Request) (console.Response, error) {
	id := r.PathValue("id")
	ask := console.Confirm{Back: systemNodes}
	switch r.PathValue("what") {
	case "drain":
		ask.Title, ask.Verb, ask.Keep = "Drain "+id+"?", "Drain the node", "Keep it working"
		ask.Text = "The node finishes what it is sending and then accepts no more work. It refuses mail, and load balancers see that it is " +
			"not ready. Other nodes take over its work; messages in its mail queue wait. It works again when you resume or restart it."
	case "handover":
		ask.Title, ask.Verb, ask.Keep = "Hand over the messages of "+id+"?", "Hand over the messages", "Leave them there"
		ask.Text = "This node takes over its messages, including the error queue, and sends those that are waiting."
	case "remove":
		ask.Title, ask.Verb, ask.Keep = "Remove "+id+"?", "Remove the node", "Keep the node"
		ask.Text = "Its messages move to this node first. The node is listed again when its process starts."
		ask.Losses = []string{"its entry in the list of nodes"}
	default:
		return console.Redirect{To: systemNodes}, nil
	}
	return ask, nil
}

func (p *Pages) drain(r *http.Request) (console.Response, error) {
	id := r.PathValue("id")
	return toNodes(id+" is draining: it finishes what it is sending and accepts nothing new.", p.Service.Drain(r.Context(), id))
}

func (p *Pages) resumeNode(r *http.Request) (console.Response, error) {
	id := r.PathValue("id")
	return toNodes(id+" was resumed.", p.Service.Resume(r.Context(), id))
}

func (p *Pages) remove(r *http.Request) (console.Response, error) {
	id := r.PathValue("id")
	return toNodes(id+" was removed.", p.Service.Remove(r.Context(), id))
}

func (p *Pages) handOver(r *http.Request) (console.Response, error) {
	n, err := p.Service.Handover(r.Context(), r.PathValue("id"), "", nil)
	return toNodes("This node took over "+strconv.FormatInt(n, 10)+" messages of "+r.PathValue("id")+".", err)
}

func toNodes(flash string, err error) (console.Response, error) {
	return console.Redirect{To: systemNodes, Flash: flash}, err
}
