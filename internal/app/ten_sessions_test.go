package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/identity"
)

// Ten sessions of each of two users: one that ends, by two at once, takes none of
// the others along, and the settings that two change at once are those of one.
func TestTenSessionsAndTwoAdministrators(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, nodes []*App) {
		const sessions = own + "/sessions"
		answers(t, nodes, call{http.MethodPost, own + "/users", `{"name":"ada","password":"correct horse battery"}`}, http.StatusCreated)
		cookies := make(map[string][]string)
		for i := range 10 {
			for user, word := range map[string]string{"admin": password, "ada": "correct horse battery"} {
				session, _, err := nodes[i%2].identity.SignIn(t.Context(), user, word, fmt.Sprintf("127.0.0.%d", i+1))
				if err != nil {
					t.Fatal(err)
				}
				cookies[user] = append(cookies[user], session)
			}
		}
		open := func(user string) (n int) {
			for _, cookie := range cookies[user] {
				status, _ := get(t, nodes[1].URL()+"/account/tokens", func(r *http.Request) {
					r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: cookie})
				})
				if status == http.StatusOK {
					n++
				}
			}
			return n
		}
		list := noun{at: sessions, list: sessions + "?user=ada", key: "id"}
		of := listed(t, nodes[0], list)
		if len(of) != 10 || open("ada") != 10 || open("admin") != 10 {
			t.Fatalf("%d sessions are listed, %d and %d are open", len(of), open("ada"), open("admin"))
		}
		for id := range of {
			statuses := atOnceOn(t, nodes, call{http.MethodDelete, sessions + "/" + id, ""})
			if slices.Sort(statuses); !slices.Equal(statuses, []int{http.StatusNoContent, http.StatusNotFound}) {
				t.Errorf("two that end one session are answered %d", statuses)
			}
			break
		}
		eventually(t, func() bool { return open("ada") == 9 }) // within a second on the other node
		if left := listed(t, nodes[1], list); len(left) != 9 || open("admin") != 10 {
			t.Errorf("%d sessions are left, %d of the other user", len(left), open("admin"))
		}

		_, answer := put(t, nodes[0], http.MethodPut, mtbs+"/settings", `{"proxyUrl":"http://first.example.com:3128"}`)
		var settings item
		if err := json.Unmarshal([]byte(answer), &settings); err != nil {
			t.Fatal(err)
		}
		statuses := atOnceOn(t, nodes, call{http.MethodPut, mtbs + "/settings", fmt.Sprintf(`{"version":%s,"proxyUrl":"http://proxy.example.com:3128"}`, settings["version"])})
		if slices.Sort(statuses); !slices.Equal(statuses, []int{http.StatusOK, http.StatusConflict}) {
			t.Errorf("two that change the settings at once are answered %d", statuses)
		}
		for _, a := range nodes {
			if _, answer := put(t, a, http.MethodGet, mtbs+"/settings", ""); !strings.Contains(answer, "proxy.example.com") {
				t.Errorf("the settings are %s", answer)
			}
		}
	})
}
