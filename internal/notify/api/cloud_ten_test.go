package api

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// Ten rules of each of ten repositories are saved, switched and deleted by two people at
// once, again and again: of each pair one did it and the other is told; every repository
// lists its own rules and no others.
func TestTwoWorkOnTheCloudRulesOfTenRepositories(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := cloudServer(t, d)
		s.rules.Accounts = accounts{"workspace": 7, "admin": 8}
		people := []string{"workspace", "admin"}
		pathOf := func(i int) string { return fmt.Sprintf("/rest/mtbs/1.0/cloud/atlas/repo-%d/rules", i) }
		ids := make([][]string, 10)
		for i := range ids {
			for n := range 10 {
				made := s.want(201, s.do("POST", pathOf(i), people[n%2], fmt.Sprintf(someCloudRule, fmt.Sprintf(`,"channelName":"%d/%d"`, i, n))))
				ids[i] = append(ids[i], fmt.Sprint(made["id"]))
			}
		}
		// both sends a request of each of the two at once and gives the codes, the lower
		// one first, and what the other is told.
		both := func(method, path, body string) (first, second int, told string) {
			t.Helper()
			var wait sync.WaitGroup
			var codes [2]int
			var texts [2]string
			for i, who := range people {
				wait.Go(func() {
					w := s.do(method, path, who, strings.ReplaceAll(body, "%s", who))
					codes[i], texts[i] = w.Code, w.Body.String()
				})
			}
			wait.Wait()
			if codes[0] > codes[1] {
				codes[0], codes[1], texts[1] = codes[1], codes[0], texts[0]
			}
			return codes[0], codes[1], texts[1]
		}
		for turn := range 2 {
			for i := range ids {
				id := ids[i][turn]
				version := s.want(200, s.do("GET", pathOf(i)+"?id="+id, "admin", ""))["version"]
				body := fmt.Sprintf(someCloudRule, fmt.Sprintf(`,"id":%s,"version":%v,"channelName":"%%s"`, id, version))
				if first, second, told := both("POST", pathOf(i), body); first != 200 || second != 409 || !strings.Contains(told, "changed channelName") {
					t.Errorf("turn %d, repository %d: saved with %d and %d: %s", turn, i, first, second, told)
				}
				if first, second, told := both("PUT", pathOf(i)+"/enabled?enabled=false&id="+ids[i][turn+2], ""); first != second || first/100 != 2 {
					t.Errorf("turn %d, repository %d: switched with %d and %d: %s", turn, i, first, second, told)
				}
				if first, second, told := both("DELETE", pathOf(i)+"?id="+ids[i][turn+4], ""); first != 204 || second != 403 && second != 404 {
					t.Errorf("turn %d, repository %d: deleted with %d and %d: %s", turn, i, first, second, told)
				}
			}
		}
		for i := range ids {
			w := s.do("GET", pathOf(i), "workspace", "")
			text := w.Body.String()
			if n := strings.Count(text, `"id":`); w.Code != 200 || n != 8 {
				t.Errorf("repository %d lists %d rules: %d %.300s", i, n, w.Code, text)
			}
			for other := range ids {
				for n, id := range ids[other] {
					there := other == i && n != 4 && n != 5
					if strings.Contains(text, fmt.Sprintf(`"id":%s,`, id)) != there {
						t.Errorf("repository %d and rule %d of repository %d: there should be %t", i, n, other, there)
					}
				}
			}
		}
	})
}
