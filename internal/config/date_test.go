package config

import "testing"

func TestDate(t *testing.T) {
	var d Date
	if err := d.UnmarshalText([]byte("2028-02-29")); err != nil || d.Time().Unix() != 1835395200 {
		t.Errorf("%v, %v", d.Time(), err)
	}
	for _, text := range []string{"", "2027-02-29", "31.1.2027", "2027-01-31T00:00:00Z", "soon"} {
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for a date", text)
		}
	}
	if !Date("").Time().IsZero() {
		t.Error("no date is a time")
	}
}
