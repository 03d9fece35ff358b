package pages

import (
	"net/http"
	"strconv"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// ruleTwin is another rule that does the same as the one in the form.
type ruleTwin struct {
	Name, Path string
	Enabled    bool
	Delete     string // deletes the rule of the form
}

// withTwin points out a rule that does the same as a stored one.
func (p *Pages) withTwin(r *http.Request, page console.Page, info *notify.RuleInfo) (console.Response, error) {
	twin, err := p.Rules.Twin(r.Context(), info)
	if err != nil || twin == nil {
		return page, err
	}
	page.Data.(*ruleForm).Twin = &ruleTwin{twin.Name, p.rulePath(&twin.Rule), twin.Enabled, p.rulePath(&info.Rule) + "/delete"}
	return page, nil
}

// duplicatePath is the path of the form of a copy of a rule.
func duplicatePath(at rulePlace, id int64) string {
	from := "from=" + idText(id)
	if query := at.query(); query != "" {
		return at.base() + "/new" + query + "&" + from
	}
	return at.base() + "/new?" + from
}

// duplicateRule shows the form of a new rule with what an existing one has, but for its
// webhook URL, which no page shows.
func (p *Pages) duplicateRule(r *http.Request, from string) (console.Response, error) {
	id, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		return nil, fault.New(fault.NotFound, "There is no such rule.")
	}
	info, err := p.Rules.Get(r.Context(), id)
	if err != nil {
		return nil, err
	}
	at := p.placeOf(&info.Rule)
	if at.Cloud() != underCloud(r) {
		return console.Redirect{To: duplicatePath(at, id)}, nil
	}
	form := formOf(&info).Set("version")
	name, _ := notify.Cut("Copy of "+info.Name, notify.MaxName)
	form.Set("name", name)
	page, err := p.rulePage(r.Context(), form, nil, at)
	page.Title = "Duplicate " + info.Name
	return page, err
}
