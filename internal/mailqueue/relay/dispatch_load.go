package relay

// loading says that due messages are about to be read, and how many of them
// may be held.
func (d *dispatch) loading() (held int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.more = false
	d.stale = make(map[int64]bool)
	return len(d.held)
}

// missing are those of the messages that are due that are not in memory. The
// others may be due for recipients who have no turn yet.
func (d *dispatch) missing(due []int64) (ids []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range due {
		if j := d.held[id]; j == nil {
			ids = append(ids, id)
		} else if len(j.turn) < len(j.recipients) {
			j.again = true
		}
	}
	return ids
}

// loaded adds what the database said is due, but for what is held and what
// passed meanwhile; more says that there may be others.
func (d *dispatch) loaded(found []*job, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.more = d.more || more
	for _, j := range found {
		other := d.held[j.id]
		switch {
		case d.stale[j.id]:
			d.more = true
		case other == nil:
			d.push(j)
		case !other.covers(j):
			other.again = true
		}
	}
	d.stale = nil
}

// withhold takes a message out of memory that is to be given up; false: it is
// being sent, or has not come in yet.
func (d *dispatch) withhold(id int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	j := d.held[id]
	if j == nil {
		return true
	}
	if j.state != ready {
		return false
	}
	d.unready(j)
	d.more = true // it may have other recipients
	return true
}
