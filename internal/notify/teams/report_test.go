package teams

import (
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
	"outrigger/internal/notify/notifytest"
)

func TestReportGolden(t *testing.T) {
	for name, e := range map[string]notify.Event{
		"REPORT": sample.Report(32, 28), "REPORT.none_inactive": sample.Report(32, 0), "REPORT.none_open": sample.Report(0, 0), "REPORT.bare": sample.BareReport(),
	} {
		message := Append(nil, card.New(&e))
		if err := notifytest.Golden(name, message); err != nil {
			t.Error(err)
		}
		check(t, message)
	}
}
