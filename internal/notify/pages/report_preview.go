package pages

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// previewReport answers by itself what the report of a form would send now, for a form
// that changes.
func (p *Pages) previewReport(r *http.Request, form *console.Form) (console.Response, error) {
	var stored *notify.ReportInfo
	if id, notGiven := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64); notGiven == nil {
		info, err := p.Reports.Get(r.Context(), id)
		if err != nil {
			return nil, err
		}
		stored = &info
	}
	now, err := p.reportNow(r.Context(), form, stored)
	return console.Part{Template: "report-form", Part: "report-now", Data: now}, err
}

// reportNow asks the platform what the report of a form would send now. A form without
// a repository asks nothing.
func (p *Pages) reportNow(ctx context.Context, form *console.Form, stored *notify.ReportInfo) (now reportNow, err error) {
	if stored == nil && form.Get("repository") == "" {
		return now, nil
	}
	view, err := p.Reports.Preview(ctx, reportOf(form, stored))
	if f := fault.As(err); f != nil && f.Code != fault.Internal {
		now.Trouble = f.Message
		if len(f.Fields) > 0 {
			now.Trouble = messagesOf(atRepositoryField(err))
		}
		return now, nil
	}
	if err != nil {
		return now, err
	}
	format, err := p.formatOfForm(ctx, form, channelOfReport(stored))
	if err != nil {
		return now, err
	}
	return reportNowOf(&view, format)
}

// messagesOf is what is wrong with fields, without their names.
func messagesOf(err error) string {
	var words []string
	for _, f := range fault.As(err).Fields {
		words = append(words, f.Message)
	}
	return strings.Join(words, " ")
}
