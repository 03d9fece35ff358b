package backup

// Draft is the name of a copy while it is made.
func Draft(s *Service, random string) string { return s.draft(random) }
