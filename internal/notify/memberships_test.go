package notify

import (
	"testing"

	"outrigger/internal/fault"
)

func TestNoMembershipsAnswersUnavailable(t *testing.T) {
	var m Memberships = NoMemberships{}
	if _, err := m.MemberOf(t.Context(), "main", "ana", []string{"developers"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v; want fault.Unavailable", err)
	}
}
