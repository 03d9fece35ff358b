package users

import (
	"testing"
	"time"

	"outrigger/internal/identity/identitytest"
)

func TestRemoveTheSecondFactorOfAUser(t *testing.T) {
	each(t, func(s *site) {
		session := s.signIn("ann")
		s.send(ann, nil, 200, "Second factor", "none")
		s.send(ann+"/second-factor/remove", nil, 409, "ann has no second factor")
		if _, err := identitytest.SetUp(s.t.Context(), s.Service, "ann", time.Now); err != nil {
			s.t.Fatal(err)
		}
		s.send("/system/users", nil, 200, "second factor")
		s.send(ann, nil, 200, "an authenticator app, 10 unused recovery codes", ann+"/second-factor/remove")
		s.send(ann+"/second-factor/remove", nil, 200, "Remove the second factor of ann?", "1 session, with unsaved input", "10 unused recovery codes")
		s.send(ann+"/second-factor/remove", post, 303)
		s.send(ann, nil, 200, "Second factor", "none")
		if _, err := s.Session(s.t.Context(), session); err == nil {
			s.t.Error("the session goes on")
		}
		s.signIn("ann")

		if _, err := identitytest.SetUp(s.t.Context(), s.Service, "root", time.Now); err != nil {
			s.t.Fatal(err)
		}
		s.send("/system/users/named/root", nil, 200, "Change your second factors")
	})
}
