package secret

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const plain = "correct horse battery staple"

type holder struct {
	Shown  Value `json:"shown" yaml:"shown" xml:"shown"`
	hidden Value // fmt does not ask an unexported member's methods
}

func TestValueNeverPrints(t *testing.T) {
	v := New(plain)
	h := holder{Shown: v, hidden: v}
	var printed []string
	for _, verb := range strings.Split("v +v #v s q x X d o b c U e f g t p T w 10s -40v", " ") {
		for _, arg := range []any{v, &v, h, &h, []Value{v}, map[string]Value{"k": v}, fmt.Errorf("wrapped: %v", v)} {
			printed = append(printed, fmt.Sprintf("%"+verb, arg))
		}
	}
	printed = append(printed, fmt.Sprint(v), fmt.Sprintln(h))
	for name, marshal := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal, "xml": xml.Marshal} {
		out, err := marshal(h)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// JSON and XML escape < and >, each in its way.
		if !strings.Contains(string(out), "secret") {
			t.Errorf("%s wrote %s: nothing shows that there is a secret", name, out)
		}
		printed = append(printed, string(out))
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("said", "value", v, "pointer", &v, "holder", h, slog.Group("g", "value", v))
	}
	printed = append(printed, log.String())
	for _, text := range printed {
		for _, leak := range []string{plain, fmt.Sprintf("%x", plain), fmt.Sprintf("%X", plain), "horse"} {
			if strings.Contains(text, leak) {
				t.Errorf("printed the secret: %s", text)
			}
		}
	}
	if got := fmt.Sprintf("%v|%s|%q", v, v, v); got != "<secret>|<secret>|<secret>" {
		t.Errorf("prints as %s", got)
	}
	if got := fmt.Sprintf("[%v]", Value{}); got != "[]" {
		t.Errorf("an empty value prints as %s", got)
	}
}

func TestValueReads(t *testing.T) {
	var fromJSON, fromYAML holder
	if err := json.Unmarshal([]byte(`{"shown":"abc"}`), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte("shown: abc\n"), &fromYAML); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]Value{"json": fromJSON.Shown, "yaml": fromYAML.Shown} {
		if v.Reveal() != "abc" || !v.Equal(New("abc")) || v.Equal(New("abd")) || v.IsZero() {
			t.Errorf("%s: read %q", name, v.Reveal())
		}
	}
	if !New("").IsZero() || !(Value{}).Equal(New("")) || (Value{}).Reveal() != "" {
		t.Error("an empty text is no zero Value")
	}
}
