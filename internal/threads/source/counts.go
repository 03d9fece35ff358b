package source

// Counts say what became of the records or mappings of an import.
type Counts struct {
	Added     int64 `json:"added"`
	Replaced  int64 `json:"replaced"` // had another parent, issue or cloud id
	Unchanged int64 `json:"unchanged"`
	Removed   int64 `json:"removed,omitempty"` // by a mirror: the source has them no more
}

func (c *Counts) add(o Counts) {
	c.Added += o.Added
	c.Replaced += o.Replaced
	c.Unchanged += o.Unchanged
	c.Removed += o.Removed
}

// settle takes values by id one after the other over those that are stored.
// now is what each id that came ends with, changed the ids that end otherwise
// than they are stored, each once.
func settle[V comparable](stored map[int64]V, ids []int64, values []V) (now map[int64]V, changed []int64, n Counts) {
	now = make(map[int64]V, len(ids))
	var order []int64
	for i, id := range ids {
		last, known := now[id]
		if !known {
			order = append(order, id)
			last, known = stored[id]
		}
		switch {
		case !known:
			n.Added++
		case last == values[i]:
			n.Unchanged++
		default:
			n.Replaced++
		}
		now[id] = values[i]
	}
	for _, id := range order {
		if old, was := stored[id]; !was || old != now[id] {
			changed = append(changed, id)
		}
	}
	return now, changed, n
}
