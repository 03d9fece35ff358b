package console

import (
	"maps"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"outrigger/internal/fault"
)

func readForm(t *testing.T, body string) *Form {
	t.Helper()
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	f, err := ReadForm(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReadForm(t *testing.T) {
	f := readForm(t, "name=+Builds+&secret=+x+&events=A&events=B&enabled=true&lines=one%0D%0A+two+,%0D%0A%0D%0Athree&bad=a%00b%FFc")
	for _, tc := range []struct {
		what      string
		got, want any
	}{
		{"a value without its spaces", f.Get("name"), "Builds"},
		{"a value as typed", f.Raw("secret"), " x "},
		{"ticked boxes", f.All("events"), []string{"A", "B"}},
		{"a ticked box", f.Bool("enabled"), true},
		{"a box that is not ticked", f.Bool("disabled"), false},
		{"lines", f.Lines("lines"), []string{"one", "two", "three"}},
		{"no lines", f.Lines("nothing"), []string(nil)},
		{"no U+0000, nothing that is not UTF-8", f.Get("bad"), "a\uFFFDb\uFFFDc"},
		{"nothing", f.Get("nothing"), ""},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: %s", tc.what, diff)
		}
	}
}

func TestReadFormRefuses(t *testing.T) {
	for body, code := range map[string]fault.Code{
		"a=" + strings.Repeat("x", formLimit): fault.TooLarge,
		"a=%zz":                               fault.Invalid,
		"a;b=c":                               fault.Invalid,
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if _, err := ReadForm(r); !fault.Is(err, code) {
			t.Errorf("%.20s…: %v, want %s", body, err, code)
		}
	}
}

func TestSetIsReadBack(t *testing.T) {
	f := NewForm().Set("name", "Builds").SetLines("branches", []string{"main", "dev"}).SetBool("on", true).SetBool("off", false)
	if f.Get("name") != "Builds" || !f.Bool("on") || f.Bool("off") {
		t.Error("a value is lost")
	}
	if diff := cmp.Diff([]string{"main", "dev"}, f.Lines("branches")); diff != "" {
		t.Error(diff)
	}
}

// TestARefusedFormKeepsWhatWasTyped is the promise of every form: nothing
// typed is lost, each error is at its field, a summary leads there.
func TestARefusedFormKeepsWhatWasTyped(t *testing.T) {
	s := newSite(t, plainBase)
	w := s.send("POST", "/notifications/rules/new", url.Values{
		"name": {""}, "webhookUrl": {"https://hooks.slack.com/x"}, "format": {"slack"}, "branches": {"\nmain\ndev"},
		"branchMask": {"release/("}, "enabled": {"true"}, "mode": {"teams"},
	})
	if w.Code != 400 {
		t.Fatalf("status %d", w.Code)
	}
	root, err := html.Parse(strings.NewReader(w.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	var summary []string
	for n := range root.Descendants() {
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
		}
		_, checked := attr["checked"]
		_, selected := attr["selected"]
		switch {
		case n.Data == "input" && checked, n.Data == "input" && attr["type"] == "text":
			got[attr["name"]] = attr["value"]
		case n.Data == "option" && selected:
			got["format"] = attr["value"]
		case n.Data == "textarea":
			got["branches"] = text(n)
		case n.Data == "p" && attr["class"] == "error":
			got[attr["id"]] = text(n)
		case n.Data == "a" && strings.HasPrefix(attr["href"], "#f-"):
			summary = append(summary, attr["href"]+" "+text(n))
		}
	}
	want := map[string]string{
		"name": "", "webhookUrl": "https://hooks.slack.com/x", "format": "slack", "branches": "main\ndev",
		"branchMask": "release/(", "enabled": "true", "mode": "teams",
		"f-name-error":       "Error: Give the rule a name.",
		"f-eventTypes-error": "Error: Tick at least one event.",
		"f-branchMask-error": "Error: Unclosed group near index 9.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantSummary := []string{"#f-name Name: Give the rule a name.", "#f-eventTypes Events: Tick at least one event.", "#f-branchMask Branch mask: Unclosed group near index 9."}
	if diff := cmp.Diff(wantSummary, summary); diff != "" {
		t.Error(diff)
	}
}

// The focus is on the first field that has an error, of whatever kind, and on nothing
// else; on the summary where no field of the page has one.
func TestTheFocusIsOnTheFirstError(t *testing.T) {
	s := newSite(t, plainBase)
	focused := func(form url.Values) (ids []string) {
		root, err := html.Parse(strings.NewReader(s.send("POST", "/notifications/rules/new", form).Body.String()))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "autofocus" }) {
				i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "id" })
				ids = append(ids, n.Attr[i].Val)
			}
		}
		return ids
	}
	right := url.Values{"name": {"Builds"}, "webhookUrl": {"https://hooks.slack.com/x"}, "format": {"slack"}, "eventTypes": {"TAG_CREATED"}, "branchMask": {"release/("}, "mode": {"teams"}}
	without := func(names ...string) url.Values {
		form := maps.Clone(right)
		for _, name := range names {
			delete(form, name)
		}
		return form
	}
	for want, form := range map[string]url.Values{
		"f-name": without("name", "eventTypes"), "f-eventTypes": without("eventTypes"), "f-branchMask": right,
	} {
		if got := focused(form); len(got) != 1 || got[0] != want {
			t.Errorf("the focus is on %v, want %s", got, want)
		}
	}
	form := NewForm()
	form.Refuse(&fault.Error{Code: fault.Invalid, Fields: []fault.Field{{Name: "elsewhere", Message: "No."}}})
	if form.Text("name", "Name"); !newProblem(&fault.Error{Fields: []fault.Field{{Name: "elsewhere", Message: "No."}}}, form).Focus {
		t.Error("the focus is on no field that has an error, and not on the summary")
	}
	for _, in := range []Input{form.Area("name", "Name"), form.Select("format", "Format", nil), form.Check("enabled", "Enabled"), form.Radio("mode", "Mode", nil)} {
		if in.Focus {
			t.Errorf("the focus is on %s", in.Name)
		}
	}
}

func TestErrorsOfMembersAreAtTheirField(t *testing.T) {
	f := NewForm()
	f.Refuse(&fault.Error{Code: fault.Invalid, Fields: []fault.Field{{Name: "branches[2]", Message: "Two."}, {Name: "branches[4]", Message: "Four."}, {Name: "projects[0].key", Message: "Key."}}})
	if got := f.Area("branches", "Branches").Error; got != "Two. Four." {
		t.Errorf("branches: %q", got)
	}
	if got := f.Text("projects", "Projects").Error; got != "Key." {
		t.Errorf("projects: %q", got)
	}
}

func TestPasswordsAreNotShownAgain(t *testing.T) {
	f := readForm(t, "password=canoe")
	if in := f.Password("password", "Password"); in.Value != "" || in.Type != "password" {
		t.Errorf("%+v", in)
	}
}

func TestChoicesOfOneFormLeaveAnotherAlone(t *testing.T) {
	groups := []Group{{Label: "Tags", Options: []Option{{Value: "A"}, {Value: "B"}}}}
	first := NewForm().Set("events", "A").Checks("events", "Events", groups)
	second := NewForm().Set("events", "B").Checks("events", "Events", groups)
	for i, in := range []Input{first, second} {
		for j, o := range in.Groups[0].Options {
			if o.Chosen != (i == j) {
				t.Errorf("form %d, %s: %v", i, o.Value, o.Chosen)
			}
		}
	}
}

// A form that is filled from a struct is read back as it was; masks are read as typed.
func TestMembersAreReadBack(t *testing.T) {
	type kind string
	type inside struct {
		Mask string   `json:"mask,omitempty" form:"raw"`
		Who  []string `json:"who"`
	}
	type settings struct {
		inside
		Name      string `json:"name"`
		Kind      kind   `json:"kind"`
		Days      int    `json:"days"`
		On        bool   `json:"on"`
		Hidden    string `json:"-"`
		Unnamed   string
		Untyped   map[string]string `json:"untyped"`
		Elsewhere []kind            `json:"elsewhere"`
	}
	want := settings{inside{" main", []string{"ada", "bob"}}, "Builds", "slack", 7, true, "", "", nil, nil}
	var got settings
	NewForm().Fill(want).Read(&got)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" {
		t.Error(diff)
	}
	got = settings{Days: 3, On: true, Hidden: "stays", Unnamed: "stays", Elsewhere: []kind{"stays"}}
	readForm(t, "name=+Builds+&mask=+main+&who=+ada%0D%0Abob,&Hidden=x&Unnamed=x&elsewhere=x").Read(&got)
	want = settings{inside: inside{" main ", []string{"ada", "bob"}}, Name: "Builds", Hidden: "stays", Unnamed: "stays", Elsewhere: []kind{"stays"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" {
		t.Error(diff)
	}
}
