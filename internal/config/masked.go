package config

import (
	"fmt"
	"io"
	"reflect"

	"outrigger/internal/secret"
)

// leastSecret is the shortest secret that is looked for in other texts: shorter ones
// are parts of words.
const leastSecret = 6

// Secrets lists the secrets that are set, those of connections and other lists
// included, but for the shortest.
func (c *Config) Secrets() (list []secret.Value) {
	each(settings(c), "", func(_ string, s setting) {
		if v, is := s.field.Interface().(secret.Value); is && len(v.Reveal()) >= leastSecret {
			list = append(list, v)
		}
	})
	return list
}

// PrintMasked writes the value of every setting, a line each, and of secrets only that
// they are set.
func (c *Config) PrintMasked(w io.Writer) (err error) {
	each(settings(c), "", func(key string, s setting) {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s: %v\n", key, s.field.Interface())
		}
	})
	return err
}

// each calls f for each setting with its key, as in notify.connections[0].name.
func each(list []setting, prefix string, f func(key string, s setting)) {
	for _, s := range list {
		if !s.objects() {
			f(prefix+s.key, s)
			continue
		}
		for i := range s.field.Len() {
			item := flatten(members(reflect.Indirect(s.field.Index(i)), ""))
			each(item, fmt.Sprintf("%s%s[%d].", prefix, s.key, i), f)
		}
	}
}
