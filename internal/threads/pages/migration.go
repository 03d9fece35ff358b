package pages

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/threads"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/store"
)

// migrationView is what the page of the migration shows.
type migrationView struct {
	*console.Form
	Status  threads.MigrationStatus
	Badge   console.Badge
	Hint    string // what the phase means, or what to do next
	Steps   []step
	Buttons []button   // what is allowed now
	Menu    []button   // what of it is rare, or takes something away
	Report  bool       // there is one
	Stage   *stageView // nil where there are neither two files nor data
	Result  *threads.Verification
	Target  string
	Groups  []groupRow // the permanent errors by reason, the most frequent first

	Hierarchy, Mappings fileView

	Replaced []store.Replacement // the reader's files in whose place others sent theirs
}

// button is an operation.
type button struct {
	Label   string
	Path    string
	Allowed bool
	Main    bool // the next step
	Rare    bool // in the menu
	Asks    bool // before it does anything
	Form    []console.Hidden
}

// stageView is what two files say, in short.
type stageView struct {
	*threads.StageState
	Percent int
	Failed  bool
	Sites   threads.Sites
}

func (p *Admin) staged(st *threads.StageState) *stageView {
	return &stageView{st, st.Percent(), st.State == threads.StageFailed, threads.SitesOf(st.Site(), p.Store.Target())}
}

// Verdict says what the preview expects: how many records will be restored and,
// where some cannot, how many.
func (v *stageView) Verdict() (s verdict) {
	records, lost := v.Preview.Records, v.Preview.TotalErrors
	switch good := records - lost; {
	case records == 0:
		s.Good = "There is nothing to restore."
	case lost == 0 && records == 1:
		s.Good = "The record will be restored."
	case lost == 0:
		s.Good = "All " + console.Count(records) + " records will be restored."
	default:
		s.Good = console.Count(good) + " of " + threads.Counted(records, "record") + " will be restored, "
		s.Lost = console.Count(lost) + " cannot"
	}
	return s
}

// verdict is what the preview expects, in one sentence of two parts.
type verdict struct{ Good, Lost string }

// String is the whole sentence.
func (v verdict) String() string {
	if v.Lost == "" {
		return v.Good
	}
	return v.Good + v.Lost + "."
}

// Reasons are those for which records cannot be restored.
func (v *stageView) Reasons() []reasonRow { return byReason(v.Preview.Errors) }

// Files names the two files, and who sent them.
func (v *stageView) Files() string {
	d := v.Drafts()
	return named(d.Hierarchy) + " and " + named(d.Mappings)
}

func named(d threads.Draft) string {
	return cmp.Or(d.Filename, "an unnamed file") + " from " + d.CreatedBy
}

// fileView is the form for a file, and the draft that there is.
type fileView struct {
	Kind, Label, Hint, Accept string
	Uploads                   string // where files are sent to
	Action                    string // where the form is posted to
	Paste                     bool
	Site                      bool // asks which site it is for
	Focus                     bool // it is the next to be sent
	Draft                     *draftView
}

type draftView struct {
	threads.Upload
	Size    string
	Here    string // how much of it came in
	Percent int
}

func (d *draftView) named() string {
	return named(threads.Draft{Filename: d.Filename, CreatedBy: d.CreatedBy})
}

func newDraft(u threads.Upload) *draftView {
	d := &draftView{Upload: u, Size: size(u.Length), Here: size(u.Received), Percent: 100}
	if !u.Complete() {
		d.Percent = int(u.Received * 100 / u.Length)
	}
	return d
}

func (p *Admin) showMigration(r *http.Request) (console.Response, error) {
	return p.migrationPage(r.Context())
}

func (p *Admin) migrationPage(ctx context.Context) (console.Page, error) {
	view, err := p.migration(ctx)
	return console.Page{Template: "threads-migration", Title: title, Tabs: tabs(movePath), Data: view}, err
}

func (p *Admin) migration(ctx context.Context) (*migrationView, error) {
	view := &migrationView{Form: console.NewForm(), Target: p.Store.Target()}
	var err error
	if view.Status, err = p.Status(ctx); err != nil {
		return nil, err
	}
	if view.Result, err = p.Verification(ctx); err != nil {
		return nil, err
	}
	if err := p.files(ctx, view); err != nil {
		return nil, err
	}
	st, err := p.Store.Preview(ctx)
	switch {
	case fault.Is(err, fault.Conflict): // there is nothing to look at yet
	case err != nil:
		return nil, err
	default:
		view.Stage = p.staged(st)
	}
	if view.Replaced, err = p.Store.Replaced(ctx, identity.From(ctx).Name); err != nil {
		return nil, err
	}
	view.Badge, view.Hint = statusBadge(&view.Status), hints[view.Status.Phase]
	if view.Status.Undoing() {
		view.Hint = undoingHints[view.Status.Phase]
	}
	if view.Status.Phase == threads.PhaseCompleted {
		view.Hint += compared(view.Result)
	}
	view.Steps = stepsOf(view)
	view.Report = view.Status.Progress.Total > 0 && view.Status.Phase != threads.PhaseLoading
	view.Groups = groupRows(view.Status.Errors.Groups)
	for _, b := range buttons(view) {
		switch {
		case !b.Allowed:
		case b.Rare:
			view.Menu = append(view.Menu, b)
		default:
			view.Buttons = append(view.Buttons, b)
		}
	}
	return view, nil
}

// files finds the drafts.
func (p *Admin) files(ctx context.Context, view *migrationView) error {
	view.Hierarchy = fileView{
		Kind: threads.HierarchyFile, Label: "Hierarchy JSON", Accept: ".json,.gz,.zip,application/json", Paste: true,
		Hint: "comments_hierarchy_export.json: a JSON array of records, or export pages; may be compressed with gzip or zip.",
	}
	view.Mappings = fileView{
		Kind: threads.MappingsFile, Label: "Id mappings CSV", Accept: ".csv,.gz,.zip,text/csv", Paste: true, Site: true,
		Hint: "id-mappings.csv: the complete report of entityType, serverId and cloudId; may be compressed with gzip or zip.",
	}
	list, err := p.Store.Uploads.List(ctx)
	for _, f := range []*fileView{&view.Hierarchy, &view.Mappings} {
		f.Uploads, f.Action = api.UploadsPath, movePath+"/files"
		f.find(list)
	}
	view.Mappings.Focus = view.Hierarchy.Here() && view.Mappings.Draft == nil
	view.Hierarchy.Focus = view.Mappings.Here() && view.Hierarchy.Draft == nil
	return err
}

func (f *fileView) find(list []threads.Upload) {
	if i := slices.IndexFunc(list, func(u threads.Upload) bool { return u.Kind == f.Kind }); i >= 0 {
		f.Draft = newDraft(list[i])
	}
}

// Here reports whether the whole file is.
func (f fileView) Here() bool { return f.Draft != nil && f.Draft.Complete() }

// buttons are the operations, in the order in which they are used.
func buttons(view *migrationView) []button {
	var list []button
	for _, op := range threads.Operations() {
		if op == threads.OpUndo && view.Status.Undoing() && slices.Contains(view.Status.Allowed, threads.OpContinue) {
			continue // the two do the same
		}
		b := button{Label: labels[op], Path: movePath + "/" + string(op), Allowed: slices.Contains(view.Status.Allowed, op)}
		switch op {
		case threads.OpUpload:
			b.Allowed = b.Allowed && view.Hierarchy.Here() && view.Mappings.Here() && view.Stage != nil && view.Stage.Preview != nil
			if b.Allowed {
				b.Form = draftFields(view.Stage.Drafts())
			}
			b.Asks = view.Status.Phase != threads.PhaseEmpty || view.incomplete() != nil || view.Stage != nil && view.Stage.Sites.Differ
			b.Main = b.Allowed && view.Status.Phase == threads.PhaseEmpty
		case threads.OpStart:
			b.Main = b.Allowed
			if view.Status.Data != nil {
				b.Form = draftFields(*view.Status.Data)
			}
		case threads.OpContinue:
			b.Main = b.Allowed
			if view.Status.Undoing() {
				b.Label = "Continue Undoing"
			}
		case threads.OpReset:
			b.Asks, b.Main = true, view.Status.Phase == threads.PhaseCancelled // nothing else leads on
			b.Rare = !b.Main
			b.Allowed = b.Allowed && (view.Status.Phase != threads.PhaseEmpty || view.Hierarchy.Draft != nil || view.Mappings.Draft != nil)
		case threads.OpCancel, threads.OpUndo:
			b.Asks, b.Rare = true, true
		}
		list = append(list, b)
	}
	return list
}

// incomplete says what is wrong with the files, as far as that is known.
func (v *migrationView) incomplete() []string {
	if v.Stage == nil || v.Stage.Preview == nil {
		return nil
	}
	return v.Stage.Preview.Incomplete
}
