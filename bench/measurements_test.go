package main

import (
	"strings"
	"testing"
)

// A name that nothing has is refused with those that there are; part of a name means all
// that begin with it.
func TestChoose(t *testing.T) {
	for names, want := range map[string]string{
		"idle,sqlite": "sqlite idle", "growth": "growth-events growth-rules growth-waiting", "growth-rules,growth-rules": "growth-rules",
		"sqllite": "", "sqlite,": "", "grow": "", "": "",
	} {
		chosen, err := choose(strings.Split(names, ","))
		var got []string
		for _, m := range chosen {
			got = append(got, m.name)
		}
		if strings.Join(got, " ") != want || (err != nil) != (want == "") {
			t.Errorf("%q: %v, %v", names, got, err)
		}
	}
	_, err := choose([]string{"sqllite"})
	for _, want := range []string{`"sqllite"`, "export, growth, growth-events, ", ", sqlite, status"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, without %s", err, want)
		}
	}
}
