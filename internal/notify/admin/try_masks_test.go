package admin

import (
	"strings"
	"testing"
	"testing/synctest"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// Masks are tried one after the other, for all users together: a request may
// cost two seconds of a core, and needs no permission.
func TestMasksAreTriedOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trials := new(Trials)
		hungry, names := &notify.Filter{BranchMask: `(?=rel)release/.*`}, []string{strings.Repeat("a", maxTriedName), "main"}
		release, answers := make(chan struct{}), make(chan error)
		go func() { answers <- trials.masks.Do(t.Context(), func() { <-release }) }()
		synctest.Wait()
		try := func(user string) {
			ctx := identity.With(t.Context(), &identity.Principal{Name: user})
			go func() {
				tried, err := trials.TryMasks(ctx, hungry, names, nil)
				if err == nil && len(tried[0].Names) != len(names) {
					t.Errorf("%s was told of %d names", user, len(tried[0].Names))
				}
				answers <- err
			}()
		}
		for range triesAtOnce {
			try("ada")
		}
		synctest.Wait()
		select {
		case err := <-answers:
			t.Fatalf("a mask was tried while another was: %v", err)
		default:
		}
		try("ada")
		if err := <-answers; !fault.Is(err, fault.RateLimited) {
			t.Errorf("one more of the same user: %v", err)
		}
		try("bob")
		close(release)
		for range triesAtOnce + 2 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		try("ada")
		if err := <-answers; err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
