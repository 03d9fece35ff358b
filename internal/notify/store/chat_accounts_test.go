package store

import (
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

func usersOf(accounts []notify.ChatAccount) string {
	names := make([]string, len(accounts))
	for i, a := range accounts {
		names[i] = a.Connection + "/" + a.User
	}
	return strings.Join(names, " ")
}

func TestChatAccounts(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		put := func(want int, accounts ...notify.ChatAccount) {
			t.Helper()
			if n, err := s.SaveChatAccounts(t.Context(), ada, accounts); n != want || err != nil {
				t.Errorf("%d are new, want %d: %v", n, want, err)
			}
		}
		put(3, notify.ChatAccount{Connection: "dc", User: "Grace", Teams: "grace@example.com"},
			notify.ChatAccount{Connection: "dc", User: "alan_t", Slack: "U012AB3CD"},
			notify.ChatAccount{Connection: "other", User: "grace", Teams: "g@example.com"})
		put(1, notify.ChatAccount{Connection: "dc", User: "grace", Teams: "hopper@example.com", Slack: "U1111AAAA"},
			notify.ChatAccount{Connection: "dc", User: "alanxt", Slack: "U2222BBBB"})

		for _, c := range []struct {
			page notify.ChatAccountPage
			want string
		}{
			{notify.ChatAccountPage{Limit: 10}, "dc/alan_t dc/alanxt dc/grace other/grace"},
			{notify.ChatAccountPage{Limit: 2}, "dc/alan_t dc/alanxt"},
			{notify.ChatAccountPage{Limit: 2, AfterConnection: "dc", AfterUser: "alanxt"}, "dc/grace other/grace"},
			{notify.ChatAccountPage{Limit: 10, Connection: "other"}, "other/grace"},
			{notify.ChatAccountPage{Limit: 10, Search: "N_T"}, "dc/alan_t"},
			{notify.ChatAccountPage{Limit: 10, Search: "HOPPER@"}, "dc/grace"},
			{notify.ChatAccountPage{Limit: 10, Search: "u2222"}, "dc/alanxt"},
			{notify.ChatAccountPage{Limit: 10, Search: "%"}, ""},
		} {
			found, err := s.ListChatAccounts(t.Context(), c.page)
			if got := usersOf(found); got != c.want || err != nil {
				t.Errorf("%+v: %q, want %q: %v", c.page, got, c.want, err)
			}
		}
		by, err := s.ChatAccounts(t.Context(), "dc", []notify.User{{Name: "GRACE"}, {Name: "nobody"}})
		if err != nil || len(by) != 1 || by["grace"].Teams != "hopper@example.com" || by["grace"].UpdatedBy != ada.Name {
			t.Errorf("of users: %+v, %v", by, err)
		}
		if err := s.DeleteChatAccount(t.Context(), ada, "dc", "GRACE"); err != nil {
			t.Error(err)
		}
		if err := s.DeleteChatAccount(t.Context(), ada, "dc", "grace"); !fault.Is(err, fault.NotFound) {
			t.Errorf("twice: %v", err)
		}
		var entries int
		if err := s.db.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT count(*) FROM audit_entries WHERE object = 'chat account'`).Scan(&entries)
		}); err != nil || entries != 6 {
			t.Errorf("%d entries in the audit trail, %v", entries, err)
		}
	})
}
