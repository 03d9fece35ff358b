package cardhtml_test

import (
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
	"outrigger/internal/notify/notifytest"
)

func TestReportGolden(t *testing.T) {
	for name, e := range map[string]notify.Event{"REPORT": sample.Report(32, 28), "REPORT.none_inactive": sample.Report(32, 0), "REPORT.bare": sample.BareReport()} {
		c := card.New(&e)
		if err := notifytest.GoldenText(name+".html", draw(t, c, notify.Teams)+draw(t, c, notify.Slack)); err != nil {
			t.Error(err)
		}
	}
}
