package console

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

func TestAssetsAreKeptForEver(t *testing.T) {
	s := newSite(t, "https://tools.test/outrigger")
	page := s.as("").get("/sign-in").Body.String()
	found := regexp.MustCompile(`"/outrigger(/assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
	kinds := map[string]int{}
	for _, m := range found {
		kinds[path.Ext(m[1])]++
	}
	if kinds[".css"] != 1 || kinds[".js"] != 2 || kinds[".svg"] == 0 {
		t.Fatalf("a page asks for %v", kinds)
	}
	for _, m := range found {
		w := s.as("").get(m[1])
		if w.Code != 200 || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", m[1], w.Code, w.Header())
		}
		ext := m[1][strings.LastIndexByte(m[1], '.'):]
		if got := w.Header().Get("Content-Type"); got != assetTypes[ext] {
			t.Errorf("%s: %s", m[1], got)
		}
	}
}

func TestAnAssetsAddressFollowsItsContent(t *testing.T) {
	address := func(text string) string {
		var a assets
		if err := errors.Join(a.add(fstest.MapFS{"x/y.js": {Data: []byte(text)}}), a.bundle()); err != nil {
			t.Fatal(err)
		}
		url, err := a.url("x/y.js")
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	one, same, other := address("1"), address("1"), address("2")
	if one != same || one == other || !strings.HasPrefix(one, "/assets/console.") || !strings.HasSuffix(one, ".js") {
		t.Errorf("%s %s %s", one, same, other)
	}
}

// All modules are one file: each keeps its names to itself and its failure too, and
// whoever asks for one of them gets all.
func TestModulesAreOneFile(t *testing.T) {
	var a assets
	err := errors.Join(a.add(fstest.MapFS{"a.js": {Data: []byte("const name = 1;")}, "b.js": {Data: []byte("const name = 2;")}, "c.css": {Data: []byte("a { color: red; }")}}), a.bundle())
	if err != nil {
		t.Fatal(err)
	}
	one, err := a.url("a.js")
	other, err2 := a.url("b.js")
	all, err3 := a.url("console.js")
	if err := errors.Join(err, err2, err3); err != nil || one != other || one != all {
		t.Fatalf("%s %s %s %v", one, other, all, err)
	}
	text := string(a.byURL[all].body)
	if !strings.Contains(text, "try {\nconst name = 1;\n}") || !strings.Contains(text, "try {\nconst name = 2;\n}") || strings.Contains(text, "color") {
		t.Error(text)
	}
	err = errors.Join(a.add(fstest.MapFS{"d.js": {Data: []byte("import x from './a.js';\n")}}), a.bundle())
	if err == nil || !strings.Contains(err.Error(), "d.js imports") {
		t.Error(err)
	}
}

func TestAssetsAreRefused(t *testing.T) {
	for name, want := range map[string]string{"photo.jpg": "neither", "base.css": "two assets"} {
		c, err := New(Options{Identity: &sessions{}, BaseURL: plainBase})
		if err != nil {
			t.Fatal(err)
		}
		c.AddAssets(fstest.MapFS{name: {}})
		if _, err := c.Handler(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContrast holds WCAG AA for every pair of colours that meet, light and
// dark: 4.5:1 for text, 3:1 for the edges of what can be operated.
func TestContrast(t *testing.T) {
	css, err := fs.ReadFile(shellAssets, "assets/base.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): (?:light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)|(#[0-9a-f]{6}));`).FindAllStringSubmatch(string(css), -1) {
		if m[4] != "" {
			m[2], m[3] = m[4], m[4]
		}
		colours[m[1]] = [2]string{m[2], m[3]}
	}
	for _, pair := range []struct {
		front, back string
		ratio       float64
	}{
		{"ink", "ground", 4.5}, {"ink", "surface", 4.5}, {"ink", "raised", 4.5},
		{"quiet", "ground", 4.5}, {"quiet", "surface", 4.5}, {"quiet", "raised", 4.5},
		{"accent", "surface", 4.5}, {"accent", "ground", 4.5}, {"accent-strong", "surface", 4.5}, {"accent-strong", "accent-soft", 4.5},
		{"on-accent", "accent", 4.5}, {"on-accent", "accent-strong", 4.5}, {"on-bar", "bar", 4.5}, {"on-bar", "bar-soft", 4.5},
		{"ink", "accent-soft", 4.5}, {"ink", "good-soft", 4.5}, {"ink", "warn-soft", 4.5}, {"ink", "bad-soft", 4.5},
		{"good", "good-soft", 4.5}, {"good", "surface", 4.5}, {"warn", "warn-soft", 4.5}, {"warn", "surface", 4.5},
		{"bad", "bad-soft", 4.5}, {"bad", "surface", 4.5}, {"on-bad", "bad-fill", 4.5},
		{"edge", "surface", 3}, {"edge", "ground", 3}, {"edge", "raised", 3}, {"warn-mark", "surface", 3},
	} {
		for i, theme := range []string{"light", "dark"} {
			front, back := colours[pair.front][i], colours[pair.back][i]
			if front == "" || back == "" {
				t.Fatalf("no colour %s or %s", pair.front, pair.back)
			}
			if got := contrast(t, front, back); got < pair.ratio {
				t.Errorf("%s on %s, %s: %.2f, want %.1f", pair.front, pair.back, theme, got, pair.ratio)
			}
		}
	}
}

// contrast is the ratio of WCAG 2.2, "contrast ratio" and "relative luminance".
func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(fmt.Errorf("colour %s: %w", colour, err))
		}
		s := float64(v) / 255
		if s <= 0.04045 {
			sum += weight * s / 12.92
		} else {
			sum += weight * math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return sum
}
