package console

import (
	"bytes"
	"html/template"
	"strings"
	"testing"
	"time"
)

func TestPath(t *testing.T) {
	type key string
	for _, tc := range []struct {
		got, want string
	}{
		{Path("/rules"), "/rules"},
		{Path("/rules/%d/delete", int64(9007199254740993)), "/rules/9007199254740993/delete"},
		{Path("/projects/%s/rules", "~ada/x?y&z=1+2 3%"), "/projects/~ada%2Fx%3Fy%26z%3D1%2B2%203%25/rules"},
		{Path("/events?type=%s&after=%s", key("A&B"), "=="), "/events?type=A%26B&after=%3D%3D"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s, want %s", tc.got, tc.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 12345678: "12,345,678"} {
		if got := Count(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestParts holds what each part shows for what it is given.
func TestParts(t *testing.T) {
	for _, tc := range []struct {
		template string
		data     any
		want     []string
		not      string
	}{
		{`{{template "badge" (badge "bad" "broken")}}`, nil, []string{`<span class="badge bad">broken</span>`}, ""},
		{`{{template "time" .}}`, sampleTime, []string{`<time datetime="2025-11-20T21:04:05Z" title="2025-11-20 21:04:05 UTC">3 minutes ago</time>`}, ""},
		{`{{template "instant" .}}`, sampleTime, []string{`<time datetime="2025-11-20T21:04:05Z" data-instant>2025-11-20 21:04:05 <small>UTC</small></time>`}, ""},
		{`{{template "instant" .}}`, time.Time{}, []string{"never"}, "<time"},
		{`{{template "time" .}}`, sampleTime.In(time.FixedZone("", 3600)), []string{`datetime="2025-11-20T21:04:05Z"`}, ""},
		{`{{template "time" .}}`, time.Time{}, []string{"never"}, "<time"},
		{`{{template "table" (table "Nodes" "Name" "#Size" "")}}<tr></tr>{{template "end-table"}}`, nil,
			[]string{`aria-label="Nodes"`, `<th scope="col">Name</th>`, `<th scope="col" class="figure">Size</th>`, `<span class="unseen">Actions</span>`, "</table>"}, "#Size"},
		{`{{template "pager" .}}`, Pager{Next: "/x?after=1"}, []string{`href="/outrigger/x?after=1" rel="next"`}, "First page"},
		{`{{template "pager" .}}`, Pager{First: "/x"}, []string{"First page"}, "Next"},
		{`{{template "pager" .}}`, Pager{}, nil, "<nav"},
		{`{{template "empty" (empty "No rule yet" "Why." "/rules/new" "Add a rule")}}`, nil, []string{"No rule yet", `href="/outrigger/rules/new">Add a rule`}, ""},
		{`{{template "empty" (empty "No rule yet" "Why.")}}`, nil, []string{"Why."}, "<a"},
		{`{{template "switch" (switch "/rules/1/enabled" true "Builds")}}`, nil,
			[]string{`action="/outrigger/rules/1/enabled"`, `value="false"`, `aria-pressed="true"`, `>On<span class="unseen">: Builds</span>`}, ""},
		{`{{template "switch" (switch "/rules/1/enabled" false "Builds")}}`, nil, []string{`value="true"`, `aria-pressed="false"`, `>Off<`}, ""},
		{`{{template "copy" (copy .  "the token")}}`, `a"b`, []string{`data-copy="a&#34;b" hidden`, "<code>a&#34;b</code>"}, ""},
		{`{{template "submit" (submit "Save")}}`, nil, []string{"Save</button>"}, "Cancel"},
		{`{{template "submit" (submit "Save" "/rules")}}`, nil, []string{`href="/outrigger/rules">Cancel`}, ""},
		{`{{template "field" (.Text "name" "Name" required (limit 9) (hint "Short.") (placeholder "x") mono narrow focus (autocomplete "name"))}}`, NewForm().Set("name", "a<b"),
			[]string{`<label for="f-name">Name</label>`, `value="a&lt;b"`, `maxlength="9"`, `aria-describedby="f-name-hint"`, `aria-required="true"`, `placeholder="x"`, "autofocus", `autocomplete="name"`, `class="mono narrow"`}, "optional"},
		{`{{template "field" (.Text "age" "Age" (mark "or a date"))}}`, NewForm(), []string{"<small>or a date</small>"}, "optional"},
		{`{{template "field" (.Text "age" "Age" (mark ""))}}`, NewForm(), []string{"Age</label>"}, "small"},
		{`{{template "field" (.Text "age" "Age" (kind "number"))}}`, NewForm(), []string{`type="number"`, "<small>optional</small>"}, ""},
		{`{{template "field" (.Area "text" "Text" (rows 2))}}`, NewForm().Set("text", "\nx</textarea>"), []string{`rows="2"`, ">\n\nx&lt;/textarea&gt;</textarea>"}, ""},
		{`{{template "field" (.Check "on" "On")}}`, NewForm().SetBool("on", true), []string{`value="true" checked`}, ""},
		{`{{template "field" (.Secret "url" "URL" "https://h/…")}}`, NewForm(), []string{`placeholder="https://h/…"`, `value=""`}, ""},
	} {
		t.Run(tc.template, func(t *testing.T) {
			got := renderPart(t, tc.template, tc.data)
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s is missing in %s", want, got)
				}
			}
			if tc.not != "" && strings.Contains(got, tc.not) {
				t.Errorf("%s is in %s", tc.not, got)
			}
		})
	}
}

func renderPart(t *testing.T, text string, data any) string {
	t.Helper()
	c, err := New(Options{Identity: &sessions{}, BaseURL: "https://tools.test/outrigger", Clock: func() time.Time { return sampleTime.Add(3 * time.Minute) }})
	if err != nil {
		t.Fatal(err)
	}
	page := template.Must(template.Must(c.pages.base.Clone()).New("t").Parse(text))
	var out bytes.Buffer
	if err := page.Execute(&out, data); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMistakesInTemplatesAreErrors(t *testing.T) {
	for _, text := range []string{`{{badge "rosy" "x"}}`, `{{empty "a" "b" "c"}}`, `{{asset "nothing.css"}}`} {
		c, err := New(Options{Identity: &sessions{}, BaseURL: plainBase})
		if err != nil {
			t.Fatal(err)
		}
		page := template.Must(template.Must(c.pages.base.Clone()).New("t").Parse(text))
		if err := page.Execute(&bytes.Buffer{}, nil); err == nil {
			t.Errorf("%s is no error", text)
		}
	}
}
