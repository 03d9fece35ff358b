package identity

// claimsHold is how long the groups count that a provider named at a sign-in:
// as long as the session of that sign-in may last. Tokens go by them too, so who
// does not sign in for so long loses what came by groups there as well.
const claimsHold = sessionLife

// ClaimedGroups lists the groups by which the user has ADMIN now: those that the
// provider named at the last sign-in and that still give it here.
func (s *Service) ClaimedGroups(u User) []string {
	if !s.now().Before(u.ClaimedUntil) {
		return nil
	}
	for _, w := range s.ways {
		if w.Source == u.Source {
			if both := common(w.AdminGroups, u.claimed); len(both) > 0 {
				return both
			}
		}
	}
	return nil
}

func (u User) principal() *Principal {
	return &Principal{UserID: u.ID, Name: u.Name, Source: u.Source, Scope: All, Grants: u.Grants}
}

// principal is the user as one who asks, with what groups of a provider give.
func (s *Service) principal(u User) *Principal {
	p := u.principal()
	if len(s.ClaimedGroups(u)) > 0 {
		p.Grants = append(append([]Grant(nil), u.Grants...), Grant{Permission: Admin})
	}
	return p
}
