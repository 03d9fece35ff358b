package powercut

import "math/rand/v2"

// sector is what a disk writes whole or not at all.
const sector = 512

// file is a file as programs see it, and as it is on the disk.
type file struct {
	mode    uint32
	now     []byte
	onDisk  []byte
	changes []change // those since the last sync
}

// change is a write at an offset or, where data is nil, a new size.
type change struct {
	at   int64
	data []byte
}

func (f *file) write(at int64, data []byte) {
	c := change{at: at, data: append([]byte{}, data...)}
	f.changes = append(f.changes, c)
	f.now = c.apply(f.now)
}

func (f *file) resize(size int64) {
	c := change{at: size}
	f.changes = append(f.changes, c)
	f.now = c.apply(f.now)
}

func (c change) apply(to []byte) []byte {
	if c.data == nil {
		return resized(to, c.at)
	}
	if end := c.at + int64(len(c.data)); end > int64(len(to)) {
		to = resized(to, end)
	}
	copy(to[c.at:], c.data)
	return to
}

func resized(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// keepAll brings every change to the disk.
func (f *file) keepAll() {
	for _, c := range f.changes {
		f.onDisk = c.apply(f.onDisk)
	}
	f.changes = nil
}

// keepSome brings a random part of the changes to the disk and forgets the
// rest: none of them, all of them, or each sector by chance.
func (f *file) keepSome(random *rand.Rand) {
	chance := [...]float64{0, 0.1, 0.5, 0.9, 1}[random.IntN(5)]
	for _, c := range f.changes {
		if c.data == nil {
			if random.Float64() < chance {
				f.onDisk = c.apply(f.onDisk)
			}
			continue
		}
		for _, part := range c.sectors() {
			if random.Float64() < chance {
				f.onDisk = part.apply(f.onDisk)
			}
		}
	}
	f.changes = nil
}

// sectors cuts a write at the disk's sectors.
func (c change) sectors() []change {
	var parts []change
	for data, at := c.data, c.at; len(data) > 0; {
		n := min(int64(len(data)), sector-at%sector)
		parts = append(parts, change{at: at, data: data[:n]})
		data, at = data[n:], at+n
	}
	return parts
}
