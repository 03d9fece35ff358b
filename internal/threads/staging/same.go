package staging

// sameTargets is the third pass: the comments that share their cloud id with
// another one: which of them the comment in the cloud is cannot be told.
func (s *stage) sameTargets() error {
	mappings, err := s.comments.lastOf()
	if err != nil {
		return err
	}
	byCloud := s.newSorter(cloudColumns)
	for n := int64(1); !mappings.done; n++ {
		m := mappingOf(mappings.now)
		if err := byCloud.add(cloudRow{cloud: m.cloud, server: m.server}.row()); err != nil {
			return err
		}
		if err := s.tell(n, stepMappings, 1); err != nil {
			return err
		}
		if err := mappings.next(); err != nil {
			return err
		}
	}
	if err := byCloud.finish(); err != nil {
		return err
	}
	in, err := byCloud.stream()
	if err != nil {
		return err
	}
	s.same = s.smallSorter(commentColumns)
	var last cloudRow
	for first, given := true, false; !in.done; first = false {
		now := cloudOf(in.now)
		if !first && now.cloud == last.cloud {
			if !given {
				err = s.same.add(commentRow{last.server}.row())
			}
			if err == nil {
				err = s.same.add(commentRow{now.server}.row())
			}
			given = true
		} else {
			given = false
		}
		last = now
		if err == nil {
			err = in.next()
		}
		if err != nil {
			return err
		}
	}
	return s.same.finish()
}
