package payload

// MaxElements is how many elements of one list are read: 20 times as many as
// the refs of the largest webhook that is known. A body of 10 MiB could hold
// millions, each of which takes a hundred bytes when it is read.
const MaxElements = 100_000

// All reads the elements of a list, which is empty where the value is none. Of
// a list of more than MaxElements it keeps the first ones, and Overlong says so.
func All[T any](r *Reader, read func(*Reader) T) []T {
	var all []T
	for range r.Array {
		if len(all) == MaxElements {
			r.overlong = true
			r.Skip()
			continue
		}
		all = append(all, read(r))
	}
	return all
}

// Overlong reports whether All left elements out.
func (r *Reader) Overlong() bool { return r.overlong }
