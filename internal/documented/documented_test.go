package documented

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"outrigger/docs"
)

// Every command of the documentation has a place where it is tried, or a reason why it
// is not, and every entry of the list is there for a command.
func TestEveryCommandIsTried(t *testing.T) {
	names, err := fs.Glob(docs.Pages, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, name := range names {
		if texts["docs/"+name], err = docs.Pages.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if texts["README.md"], err = os.ReadFile(filepath.Join("..", "..", "README.md")); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	found := 0
	for page, text := range texts {
		for _, c := range Commands(page, string(text)) {
			found++
			switch place, why := c.Place(); {
			case place == "":
				t.Errorf("%s: nothing tries %q", page, c.Text)
			case (place == Nowhere) != (why != ""):
				t.Errorf("%s: %q is tried at %s because %q", page, c.Text, place, why)
			}
			if at := slices.IndexFunc(tried, func(e entry) bool { return c.Begins(e.begins) }); at >= 0 {
				used[tried[at].begins] = true
			}
		}
	}
	for _, e := range tried {
		if !used[e.begins] {
			t.Errorf("no command begins with %q", e.begins)
		}
	}
	if found < 70 {
		t.Errorf("only %d commands were found", found)
	}
}

func TestCommands(t *testing.T) {
	page := "# Title\n\n```sh\na b # why\nc \\\n  d\ne '{\n}' f\n\n```\n\n```yaml\nlisten: off\n```\n\n1. In a list:\n\n   ```sh\n   g\n   ```\n"
	want := []Command{{"p", "a b # why"}, {"p", "c \\\n  d"}, {"p", "e '{\n}' f"}, {"p", "g"}}
	if got := Commands("p", page); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
