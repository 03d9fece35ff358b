package rest

import "testing"

func TestCSVCell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "12": "12", "a=b": "a=b", "404 No.": "404 No.", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1",
		"＝1+1": "'＝1+1", "＋1": "'＋1", "－1": "'－1", "＠A": "'＠A", " =1+1": "' =1+1", "\u00a0=1": "'\u00a0=1", "\ufeff=1": "'\ufeff=1", "\u3000 ＝1": "'\u3000 ＝1",
		" ": " ", "  a": "  a", "\t": "'\t",
	} {
		if got := CSVCell(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
