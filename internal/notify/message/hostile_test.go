package message

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
)

// What people and platforms may write anywhere, and what must not be in a message
// as it is: mentions, links and entities of either chat platform.
var hostile = []string{
	"<!channel> <!here|x> <@U0EVIL> <#C0EVIL> <https://evil.example|Sign in>",
	"<at>Everybody</at> [Sign in](https://evil.example) ![x](https://evil.example/x.png) {{DATE(2026-11-22T12:00:00Z)}}",
}

// in a URL, each ends what it stands in.
var hostileURLs = []string{"https://x.example/>|<!channel>", "https://x.example/|<!here>", "javascript:alert(1)", "https://x.example/) [Sign in](https://evil.example)"}

// fill sets every text of a value, and every text that is a URL by its name.
func fill(v reflect.Value, name, text, url string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), name, text, url)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), v.Type().Field(i).Name, text, url)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), name, text, url)
		}
	case reflect.String:
		switch {
		case v.Type() != reflect.TypeFor[string](): // a type or a state
		case strings.HasSuffix(name, "URL"):
			v.SetString(url)
		default:
			v.SetString(text)
		}
	}
}

// texts are all strings of a message, but for those that are shown as they are:
// what Teams puts into its notifications, the addresses of buttons and links, and the
// texts of Slack's rich text.
func texts(v any, found *[]string) {
	switch v := v.(type) {
	case map[string]any:
		rich := v["type"] == "text" || v["type"] == "link"
		for name, member := range v {
			switch address, _ := member.(string); {
			case name == "url" && !strings.HasPrefix(address, "https://"):
				*found = append(*found, "javascript: or the like: "+address)
			case name != "fallbackText" && name != "url" && !(rich && name == "text"):
				texts(member, found)
			}
		}
	case []any:
		for _, member := range v {
			texts(member, found)
		}
	case string:
		*found = append(*found, v)
	}
}

func TestHostileTexts(t *testing.T) {
	events := map[string]notify.Event{"a report": sample.Report(32, 28)}
	for _, of := range notify.EventTypes() {
		events[of.String()] = sample.Event(of)
	}
	for name, e := range events {
		for _, text := range hostile {
			for _, url := range hostileURLs {
				fill(reflect.ValueOf(&e), "", text, url)
				c := card.New(&e)
				for format, forbidden := range map[notify.Format][]string{
					notify.Slack: {"<!", "<@", "<#", "<https://evil", "javascript:"},
					notify.Teams: {"<at>", "Sign in](", "{{DATE", "javascript:"},
				} {
					var message any
					if err := json.Unmarshal(Card(c, format), &message); err != nil {
						t.Fatal(err)
					}
					var all []string
					texts(message, &all)
					for _, said := range all {
						for _, no := range forbidden {
							if strings.Contains(said, no) {
								t.Errorf("%s, %s: %q in %q", name, format, no, said)
							}
						}
					}
				}
			}
		}
	}
}
