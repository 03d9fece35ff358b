package pages

import (
	_ "embed"
	"strings"
	"sync"
)

// zoneNames are the zones of the IANA time zone database's zone.tab, one for
// each place that has a time of its own, and UTC.
//
//go:embed time_zones.txt
var zoneNames string

// timeZones lists the names that people are offered; every other IANA name may
// be typed.
var timeZones = sync.OnceValue(func() []string { return strings.Fields(zoneNames) })
