package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The page about settings has every setting with its sentence.
// UPDATE_GOLDEN=1 writes it anew.
func TestSettingsPage(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "settings.md")
	got := settingsPage()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the settings say; run with UPDATE_GOLDEN=1 if that is meant", file)
	}
}

func settingsPage() string {
	var b strings.Builder
	b.WriteString(`# Settings

One YAML file has all settings: ` + "`outrigger serve --config FILE`, or the variable `OUTRIGGER_CONFIG`" + `. Environment variables go over the file, flags over both.

- In the file, a dot is a level: ` + "`log.level` is `level` below `log`" + `. An unknown key is a mistake.
- As a variable, it is ` + "`OUTRIGGER_LOG_LEVEL`" + `. Lists are separated by commas. Lists of objects are in the file only.
- A secret may be in a file of its own: its key with ` + "`_file`" + ` at the end names it. The last line end is dropped.
- Durations are written as ` + "`90s`, `10m`, `12h` or `7d`, sizes as `25MiB`" + ` or in bytes.

` + "`outrigger config print` writes all of this as a file, `outrigger config check FILE`" + ` checks one.
`)
	groups := []string{""}
	items := map[string]string{}
	for _, s := range settings(Default()) {
		group, _, nested := strings.Cut(s.key, ".")
		if !nested {
			group = ""
		}
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		items[group] += settingItem(s)
		if s.objects() {
			each := "Each of " + s.key
			groups = append(groups, each)
			for _, m := range flatten(members(reflect.New(s.field.Type().Elem()).Elem(), "")) {
				items[each] += settingItem(m)
			}
		}
	}
	for _, group := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n%s", cmp.Or(group, "General"), items[group])
	}
	return b.String()
}

// settingItem is a setting as an item of a list.
func settingItem(s setting) string {
	key := "`" + s.key + "`"
	if s.secret() {
		key += ", `" + s.name + fileSuffix + "`"
	}
	item := fmt.Sprintf("- %s: %s", key, strings.NewReplacer("*", `\*`, "<", `\<`).Replace(s.doc))
	switch {
	case s.def != "":
		item += " Default: `" + s.def + "`."
	case s.elseDoc != "":
		item += " Default: " + s.elseDoc + "."
	}
	return item + "\n"
}
