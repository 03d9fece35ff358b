package notify

import (
	"cmp"
	"slices"
)

// Platforms are the connections and their hooks as of one generation. It never
// changes.
type Platforms struct {
	Connections Connections
	Count       int64
	hooks       map[hookName]*Hook
	file        *Connections
	withFile    func(file *Connections) *Platforms
}

type hookName struct{ connection, hook string }

// NewPlatforms adds what is stored to what the file declares, which wins.
func NewPlatforms(count int64, file *Connections, stored Connections, hooks []*Hook, kinds map[string]Decoder) *Platforms {
	p := &Platforms{Count: count, hooks: make(map[hookName]*Hook, len(hooks)+len(*file)), file: file}
	p.withFile = func(file *Connections) *Platforms { return NewPlatforms(count, file, stored, hooks, kinds) }
	for _, c := range *file {
		c.File = true
		p.Connections = append(p.Connections, c)
		p.hooks[hookName{c.Name, ""}] = &Hook{Connection: c.Name, more: c.Secrets}
	}
	for _, c := range stored {
		if p.Connections.Find(c.Name) == nil {
			p.Connections = append(p.Connections, c)
		}
	}
	for i := range p.Connections {
		if c := &p.Connections[i]; c.Decode == nil {
			c.Decode = kinds[c.Kind]
		}
	}
	slices.SortFunc(p.Connections, func(a, b Connection) int { return cmp.Compare(a.Name, b.Name) })
	for _, h := range hooks {
		c := p.Connections.Find(h.Connection)
		if c == nil || c.File && h.Name == "" { // of a connection that left the file
			continue
		}
		p.hooks[hookName{h.Connection, h.Name}] = h
	}
	return p
}

// WithFile is p with another file, which is compared by its address.
func (p *Platforms) WithFile(file *Connections) *Platforms {
	if p == nil || p.file == file {
		return p
	}
	return p.withFile(file)
}

// Hook returns a hook and its connection; nil where there is none.
func (p *Platforms) Hook(connection, name string) (*Hook, *Connection) {
	if p == nil {
		return nil, nil
	}
	h := p.hooks[hookName{connection, name}]
	if h == nil {
		return nil, nil
	}
	return h, p.Connections.Find(connection)
}

// Hooks lists the hooks of a connection by name, its own first.
func (p *Platforms) Hooks(connection string) []*Hook {
	var list []*Hook
	for name, h := range p.hooks {
		if name.connection == connection {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b *Hook) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// HooksOf lists the hooks that are for exactly a scope, but for the connection's
// own.
func (p *Platforms) HooksOf(connection string, scope Scope) []*Hook {
	return slices.DeleteFunc(p.Hooks(connection), func(h *Hook) bool {
		return h.Name == "" || !h.Scope.Holds(scope) || !scope.Holds(h.Scope)
	})
}

// HookOf returns the first of these; nil where there is none.
func (p *Platforms) HookOf(connection string, scope Scope) *Hook {
	for _, h := range p.HooksOf(connection, scope) {
		return h
	}
	return nil
}
