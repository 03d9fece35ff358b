// Package console is the shell of the web console: layout, navigation, sign-in,
// forms, assets, and the one place that turns an error into a page. It does not
// know the services; each service registers its pages:
//
//	//go:embed pages/*.html
//	var pages embed.FS
//
//	func (p *Pages) Register(c *console.Console) {
//		c.AddPages(console.Sub(pages, "pages"))
//		c.AddNav(console.Nav{Section: "Notifications", Label: "Global rules", Path: "/notifications/rules", Visible: isAdmin})
//		c.Handle("GET /notifications/rules", console.Needs(identity.Admin), p.list, "rules")
//		c.Handle("GET /notifications/rules/new", console.Needs(identity.Admin), p.blank, "rule-form")
//		c.Handle("POST /notifications/rules/new", console.Needs(identity.Admin), console.WithForm(p.create), "rule-form")
//	}
//
// A file of AddPages that defines "content" is a page, named by its path
// without .html; a file that does not holds parts for all pages of that
// AddPages. Handle names the templates that its handler may answer with, and
// Handler refuses to start when one of them is missing; Check says, in a test,
// what else is wrong with them.
//
// A handler answers a Page, a Redirect, a Confirm or a Live. A form that is
// refused answers its page and the error: the shell shows it again with what
// was typed, every error at its field and a summary on top.
//
//	type ruleForm struct {
//		*console.Form
//		Events []console.Group
//	}
//
//	func (p *Pages) create(r *http.Request, form *console.Form) (console.Response, error) {
//		page := console.Page{Template: "rule-form", Title: "New rule", Data: ruleForm{form, eventGroups()}}
//		if err := p.rules.Save(r.Context(), ruleOf(form)); err != nil {
//			return page, err
//		}
//		return console.Redirect{To: "/notifications/rules", Flash: "The rule is saved."}, nil
//	}
//
// A handler that answers the refusal of identity's RequireConfirmed has the shell
// ask for the password or a second factor, and then send the same request again.
//
// Its template gets Data as its dot:
//
//	{{define "content"}}
//	<form method="post" class="form">
//	  {{template "field" (.Text "name" "Name" required (hint "What lists call it."))}}
//	  {{template "field" (.Secret "webhookUrl" "Webhook URL" .Mask)}}
//	  {{template "choices" (.Checks "eventTypes" "Events" .Events)}}
//	  {{template "field" (.Check "enabled" "Enabled")}}
//	  {{template "submit" (submit "Save rule" "/notifications/rules")}}
//	</form>
//	{{end}}
//
// A list:
//
//	{{define "content"}}
//	{{if .Rules}}
//	{{template "table" (table "Global rules" "Name" "Channel" "State" "Updated" "")}}
//	{{range .Rules}}
//	<tr>
//	  <th scope="row"><a href="{{link "/notifications/rules/%d" .ID}}">{{.Name}}</a></th>
//	  <td data-label="Channel"><span class="secret">{{.Mask}}</span></td>
//	  <td data-label="State">{{template "badge" (badge "good" "enabled")}}</td>
//	  <td data-label="Updated">{{template "time" .UpdatedAt}}</td>
//	  <td class="actions"><a href="{{link "/notifications/rules/%d/delete" .ID}}" data-confirm>Delete</a></td>
//	</tr>
//	{{end}}
//	{{template "end-table"}}
//	{{template "pager" .Pager}}
//	{{else}}
//	{{template "empty" (empty "No rule yet" "A rule says which events go to which channel." "/notifications/rules/new" "Add a rule")}}
//	{{end}}
//	{{end}}
//
// A long list that people scan has a line a row: it embeds a List in its data and
// uses "filters", "list" with "end-list", "bar" and "pager", in an element with
// data-results. Its rows have the class grow on cells that take what room there is and
// wide on those that a phone does without; deliveries are the example.
//
// What else a page has: Tabs, Up (the pages above it), Actions (buttons beside
// the title), "switch" (on or off at once), "copy" (a value with a button),
// "time" (how long ago, with the time itself on hover), "instant" (a time as it
// is, in a sentence or where seconds count), both in UTC, or in the browser's
// zone where there is JavaScript, .figure on
// cells of numbers, .below for a second line in a cell, .secret for masks,
// dl.facts for a thing's members, .card around it. A table becomes cards on
// narrow screens, where data-label names each cell.
//
// Every link and form action goes through link, which puts the path of
// base_url in front; every file of AddAssets through asset, which gives its
// content-hash URL. Inline styles and scripts are refused at start: the
// content security policy would not run them.
package console
