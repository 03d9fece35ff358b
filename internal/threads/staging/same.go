package staging

// sameTargets is the third pass: the comments that share their cloud id with
// another one: which of them the comment in the cloud is cannot be told.
func (s *stage) sameTargets() error {
	mappings, err := s.comments.lastOf()
	if err != nil {
		return err
	}
	byCloud := s.newSorter(cloudColumns)
	n := int64(0)
	err = mappings.each(func(r row) error {
		m := mappingOf(r)
		if err := byCloud.add(cloudRow{cloud: m.cloud, server: m.server}.row()); err != nil {
			return err
		}
		n++
		return s.tell(n, stepMappings, 1)
	})
	if err != nil {
		return err
	}
	if err := byCloud.finish(); err != nil {
		return err
	}
	s.same = s.smallSorter(commentColumns)
	var last cloudRow
	first, given := true, false
	err = byCloud.each(func(r row) (err error) {
		now := cloudOf(r)
		shared := !first && now.cloud == last.cloud
		if shared && !given {
			err = s.same.add(commentRow{last.server}.row())
		}
		if shared && err == nil {
			err = s.same.add(commentRow{now.server}.row())
		}
		first, given, last = false, shared, now
		return err
	})
	if err != nil {
		return err
	}
	return s.same.finish()
}
