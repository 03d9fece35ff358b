package staging

// sameTargets is the third pass: the comments that share their cloud id with
// another one. Which of them the comment in the cloud is, nobody can tell.
func (s *stage) sameTargets() error {
	mappings, err := s.comments.lastOf()
	if err != nil {
		return err
	}
	byCloud := s.newSorter(2) // cloud id, server id
	for n := int64(1); !mappings.done; n++ {
		if err := byCloud.add(row{mappings.now[2], mappings.now[0]}); err != nil {
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
	s.same = s.smallSorter(1)
	var last row
	for first, given := true, false; !in.done; first = false {
		if !first && in.now[0] == last[0] {
			if !given {
				err = s.same.add(row{last[1]})
			}
			if err == nil {
				err = s.same.add(row{in.now[1]})
			}
			given = true
		} else {
			given = false
		}
		last = in.now
		if err == nil {
			err = in.next()
		}
		if err != nil {
			return err
		}
	}
	return s.same.finish()
}
