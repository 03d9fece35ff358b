package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"outrigger/internal/secret"
)

// setting is one key and the field of a Config that holds it.
type setting struct {
	key     string // in full, such as "log.level"
	name    string // the last part of the key
	def     string // as written in a file
	elseDoc string // what holds where there is no default value
	doc     string
	field   reflect.Value
}

// env is the environment variable of the setting; lists of objects have none.
func (s setting) env() string {
	if s.objects() {
		return ""
	}
	return envName(s.key)
}

func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

func (s setting) secret() bool  { return s.field.Type() == reflect.TypeFor[secret.Value]() }
func (s setting) list() bool    { return s.field.Kind() == reflect.Slice }
func (s setting) objects() bool { return s.list() && s.field.Type().Elem().Kind() == reflect.Struct }
func (s setting) group() bool   { return s.field.Kind() == reflect.Struct && !s.secret() }

// documented is implemented by structs of settings: words returns a sentence about
// each, by key.
type documented interface{ words() map[string]string }

// members lists the settings right below v, a struct, in their order.
func members(v reflect.Value, prefix string) []setting {
	list := make([]setting, v.NumField())
	var words map[string]string
	if of, ok := v.Interface().(documented); ok {
		words = of.words()
	}
	for i := range list {
		tag := v.Type().Field(i).Tag
		list[i] = setting{
			key: prefix + tag.Get("key"), name: tag.Get("key"), def: tag.Get("default"),
			elseDoc: tag.Get("else"), doc: words[tag.Get("key")], field: v.Field(i),
		}
	}
	return list
}

// settings lists every setting of c, those of groups instead of the groups.
func settings(c *Config) []setting { return flatten(members(reflect.ValueOf(c).Elem(), "")) }

// changed lists the keys whose values differ between two configurations, in the
// order of the settings.
func changed(a, b *Config) []string { return differing(settings(a), settings(b)) }

// connectionKeys lists the keys whose values differ between two connections.
func connectionKeys(a, b *Connection) []string {
	return differing(members(reflect.ValueOf(a).Elem(), ""), members(reflect.ValueOf(b).Elem(), ""))
}

func differing(before, after []setting) (keys []string) {
	for i, s := range before {
		if !reflect.DeepEqual(s.field.Interface(), after[i].field.Interface()) {
			keys = append(keys, s.key)
		}
	}
	return keys
}

func flatten(list []setting) []setting {
	var flat []setting
	for _, s := range list {
		if s.group() {
			flat = append(flat, flatten(members(s.field, s.key+"."))...)
		} else {
			flat = append(flat, s)
		}
	}
	return flat
}

// fillDefaults writes the defaults of the tags. A default that does not parse
// is a mistake in this package, which its tests find.
func fillDefaults(list []setting) {
	for _, s := range list {
		if s.def == "" {
			continue
		}
		if err := s.set(s.def); err != nil {
			panic(fmt.Sprintf("config: default of %s: %v", s.key, err))
		}
	}
}

// set parses text into the field.
func (s setting) set(text string) error {
	if u, ok := s.field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v := s.field.Addr().Interface().(type) {
	case *string:
		*v = text
	case *bool:
		b, ok := map[string]bool{"true": true, "false": false}[text]
		if !ok {
			return fmt.Errorf("%q is not true or false", text)
		}
		*v = b
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		*v = n
	case *[]string:
		*v = strings.Split(text, ",")
	case *float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		*v = f
	default:
		return fmt.Errorf("it can be set in the file only")
	}
	return nil
}

// setList replaces a list of strings.
func (s setting) setList(items []string) { s.field.Set(reflect.ValueOf(items)) }
