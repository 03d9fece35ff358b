package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// questions are asked before an operation that loses something.
var questions = map[threads.Operation]console.Confirm{
	threads.OpUpload: {
		Title: "Upload these files?", Verb: "Upload Data", Keep: "Do not upload",
		Text: "Loads the two files as the data of the migration.",
	},
	threads.OpCancel: {
		Title: "Cancel the migration?", Verb: "Cancel Migration", Keep: "Keep the migration",
		Text: "You cannot continue it afterwards. A new migration needs Reset State first. Threads already written stay.",
	},
	threads.OpReset: {
		Title: "Reset the state?", Verb: "Reset State", Keep: "Keep the state",
		Text:   "You can then start a new migration. Threads already written stay.",
		Losses: []string{"the uploaded files", "the loaded data", "progress, counts and the list of errors"},
	},
	threads.OpUndo: {
		Title: "Undo the migration?", Verb: "Undo Migration", Keep: "Keep the migrated threads",
		Text: "Each issue gets back what it had before the migration. Threads that others changed since are not touched. If you need the " +
			"report, download it first.",
		Losses: []string{"the thread relationships that this migration wrote", "the loaded data", "progress, counts and the list of errors"},
	},
}

// What is ticked where files are damaged, for another site than the target, or both:
// a question has one box.
const (
	tickIncomplete = "acceptIncomplete"
	tickOtherSite  = "acceptOtherSite"
	tickBoth       = "acceptBoth"
)

// confirm asks before an operation. Those that lose nothing have no question.
func (p *Admin) confirm(op threads.Operation) console.Handler {
	return func(r *http.Request) (console.Response, error) {
		question, ok := questions[op]
		if !ok {
			return console.Redirect{To: movePath}, nil
		}
		question.Back = movePath
		if op != threads.OpUpload {
			return question, nil
		}
		view, err := p.migration(r.Context())
		if err != nil {
			return nil, err
		}
		if view.Status.Phase != threads.PhaseEmpty {
			question.Losses = []string{"the currently loaded data"}
		}
		if view.Stage != nil && view.Stage.Preview != nil {
			question.Text = "Loads " + view.Stage.Files() + " as the data of the migration."
			question.Form = draftFields(view.Stage.Drafts())
		}
		if view.Stage != nil && view.Stage.Sites.Differ {
			question.Title = "Upload id mappings for another site?"
			question.Text += " " + view.Stage.Sites.Text
			question.Tick = console.Tick{Name: tickOtherSite, Label: "Load them for " + view.Stage.Sites.Target + " all the same."}
		}
		if sentences := view.incomplete(); sentences != nil {
			question.Title = "Upload incomplete files?"
			question.Text += " The files are incomplete or damaged. Export them again if you can. What is missing in the files will be missing " +
				"in the target, and every result will say so."
			tick := console.Tick{Name: tickIncomplete, Label: "Load them as they are. " + strings.Join(sentences, " ")}
			if question.Tick.Name != "" {
				tick = console.Tick{Name: tickBoth, Label: question.Tick.Label + " " + tick.Label}
			}
			question.Tick = tick
		}
		return question, nil
	}
}

func (p *Admin) operate(op threads.Operation) console.Handler {
	return console.WithForm(func(r *http.Request, form *console.Form) (console.Response, error) {
		both := form.Bool(tickBoth)
		wish := threads.Wish{AcceptIncomplete: both || form.Bool(tickIncomplete), AcceptOtherSite: both || form.Bool(tickOtherSite)}
		if op == threads.OpUpload || op == threads.OpStart {
			wish.Drafts = namedDrafts(form)
		}
		if _, err := p.Store.Operate(r.Context(), op, wish); err != nil {
			return refused(r.Context(), p.migrationPage, err)
		}
		return console.Redirect{To: movePath}, nil // the page says how the migration stands, as long as that is so
	})
}

// draftFields name files in a form, so that what is done is done to those that the
// reader saw.
func draftFields(d threads.Drafts) []console.Hidden {
	return []console.Hidden{
		{Name: threads.HierarchyFile, Value: fmt.Sprintf("%d %s", d.Hierarchy.ID, d.Hierarchy.SHA256)},
		{Name: threads.MappingsFile, Value: fmt.Sprintf("%d %s", d.Mappings.ID, d.Mappings.SHA256)},
	}
}

// namedDrafts reads them; what cannot be read names none.
func namedDrafts(form *console.Form) (d threads.Drafts) {
	for kind, to := range map[string]*threads.Draft{threads.HierarchyFile: &d.Hierarchy, threads.MappingsFile: &d.Mappings} {
		id, sum, _ := strings.Cut(form.Get(kind), " ")
		to.ID, _ = strconv.ParseInt(id, 10, 64)
		to.SHA256 = sum
	}
	return d
}

// confirmDelete asks before a file is deleted.
func (p *Admin) confirmDelete(r *http.Request) (console.Response, error) {
	id, back, err := p.draftOf(r)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Title: "Delete the file?", Text: "The uploaded part is deleted.", Verb: "Delete the file", Keep: "Keep the file", Back: back,
		Action: fmt.Sprintf("%s/uploads/%d/delete", rootPath, id),
	}, nil
}

func (p *Admin) delete(r *http.Request) (console.Response, error) {
	id, back, err := p.draftOf(r)
	if err != nil {
		return nil, err
	}
	if err := p.Store.Uploads.Delete(r.Context(), id); err != nil {
		return nil, err
	}
	p.Store.Changed()
	return console.Redirect{To: back, Flash: "The file was deleted."}, nil
}

// draftOf is the draft in a request's path, and the tab where it is.
func (p *Admin) draftOf(r *http.Request) (id int64, back string, err error) {
	if id, err = strconv.ParseInt(r.PathValue("id"), 10, 64); err != nil {
		return 0, "", fault.New(fault.NotFound, "There is no such file.")
	}
	u, err := p.Store.Uploads.Get(r.Context(), id)
	if u.Kind == threads.BackupFile {
		return id, backPath, err
	}
	return id, movePath, err
}
