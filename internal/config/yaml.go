package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// file reads the YAML file at path into c. We walk the syntax tree ourselves
// and not through the library's decoder: every mistake is named at once, with
// its line, and no message quotes lines of the file, which may hold secrets.
func (l *loader) file(path string, c *Config) {
	content, err := os.ReadFile(path)
	if err != nil {
		l.problems = append(l.problems, fmt.Errorf("the configuration file cannot be read: %w", err))
		return
	}
	y := &yamlFile{loader: l, path: path}
	tree, err := parser.ParseBytes(content, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var e yaml.Error
		if errors.As(err, &e) && e.GetToken() != nil {
			y.wrong(e.GetToken(), "this is not YAML: %s", e.GetMessage())
		} else {
			l.problem(path, "this is not YAML: %w", err)
		}
		return
	}
	for i, doc := range tree.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.NullType:
		case i > 0:
			y.wrong(doc.Body.GetToken(), "a second YAML document begins here; the file may have only one")
		default:
			y.object(doc.Body, members(reflect.ValueOf(c).Elem(), ""))
		}
	}
}

// yamlFile is a walk over the file at path.
type yamlFile struct {
	*loader
	path string
}

// wrong notes a mistake at a token.
func (y *yamlFile) wrong(t *token.Token, format string, args ...any) {
	y.problem(fmt.Sprintf("%s:%d:%d", y.path, t.Position.Line, t.Position.Column), format, args...)
}

// object reads a mapping into the settings of list.
func (y *yamlFile) object(n ast.Node, list []setting) {
	mapping, ok := n.(ast.MapNode)
	if !ok {
		y.wrong(n.GetToken(), "expected keys with values, such as %q", list[0].name+": …")
		return
	}
	seen, given := map[string]int{}, map[string]bool{}
	for entries := mapping.MapRange(); entries.Next(); {
		key := entries.Key().GetToken()
		if line, twice := seen[key.Value]; twice {
			y.wrong(key, "the key %s is already in line %d", key.Value, line)
			continue
		}
		seen[key.Value] = key.Position.Line
		s, isFile, ok := find(list, key.Value)
		switch {
		case !ok:
			y.wrong(key, "the key %s is unknown%s", key.Value, didYouMean(key.Value, names(list)))
		case !s.secret():
			y.value(s, entries.Value())
		case entries.Value().Type() == ast.NullType: // as if the key were not there
		case given[s.key]:
			y.wrong(key, "%s is set twice, as a value and as a file; set one of them", s.key)
		default:
			given[s.key] = true
			y.secret(s, isFile, entries.Value())
		}
	}
}

// secret reads the value of a secret, or the path of the file that holds it.
func (y *yamlFile) secret(s setting, isFile bool, n ast.Node) {
	text, ok := y.scalar(s, n)
	switch {
	case !ok:
	case isFile:
		y.secretLayer(s, "", text, "")
	default:
		y.secrets = y.secrets || text != ""
		y.secretLayer(s, text, "", "")
	}
}

// value reads the value of a key.
func (y *yamlFile) value(s setting, n ast.Node) {
	switch {
	case n.Type() == ast.NullType: // the default stays
	case s.group():
		y.object(n, members(s.field, s.key+"."))
	case s.list():
		y.items(s, n)
	default:
		if text, ok := y.scalar(s, n); ok {
			y.given[s.key] = true
			if err := s.set(text); err != nil {
				y.wrong(n.GetToken(), "%s: %w", s.key, err)
			}
		}
	}
}

// items reads a list of strings or of objects.
func (y *yamlFile) items(s setting, n ast.Node) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		y.wrong(n.GetToken(), "%s is a list; write each item on a line of its own after a dash", s.key)
		return
	}
	if s.objects() {
		s.field.Set(reflect.MakeSlice(s.field.Type(), len(list.Values), len(list.Values)))
		for i, item := range list.Values {
			parts := members(s.field.Index(i), fmt.Sprintf("%s[%d].", s.key, i))
			fillDefaults(flatten(parts))
			y.object(item, parts)
		}
		return
	}
	var items []string
	for _, item := range list.Values {
		if text, ok := y.scalar(s, item); ok {
			items = append(items, text)
		}
	}
	s.setList(items)
}

// scalar is the text of a single value.
func (y *yamlFile) scalar(s setting, n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.NullNode:
		return "", true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.StringNode:
		return n.Value, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		y.wrong(n.GetToken(), "%s: anchors, aliases and tags are not supported; write the value itself", s.key)
	case *ast.MappingNode, *ast.MappingValueNode:
		y.wrong(n.GetToken(), "%s takes a single value; put one with a colon in it in quotes", s.key)
	default:
		y.wrong(n.GetToken(), "%s takes a single value", s.key)
	}
	return "", false
}

// find returns the setting that a key of the file names; a secret is also found
// by the name of its file key.
func find(list []setting, name string) (s setting, isFile, ok bool) {
	base, suffixed := strings.CutSuffix(name, fileSuffix)
	for _, s := range list {
		if s.name == name {
			return s, false, true
		}
		if suffixed && s.secret() && s.name == base {
			return s, true, true
		}
	}
	return setting{}, false, false
}

// names lists the keys that the file may have where list is.
func names(list []setting) []string {
	var all []string
	for _, s := range list {
		all = append(all, s.name)
		if s.secret() {
			all = append(all, s.name+fileSuffix)
		}
	}
	return all
}
