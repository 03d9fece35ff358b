package store

import "outrigger/internal/threads"

// settle takes values by id one after the other over those that are stored.
// now is what each id that came ends with, changed the ids that end otherwise
// than they are stored, each once.
func settle[V comparable](stored map[int64]V, ids []int64, values []V) (now map[int64]V, changed []int64, n threads.ImportCounts) {
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
