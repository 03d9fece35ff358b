package rest

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/fault"
)

// The page about the API names the status of every error, and no other.
func TestStatusesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "rest.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| status | meaning |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var got []int
	for row := range strings.Lines(table) {
		for number := range strings.SplitSeq(strings.Split(row, "|")[1], ",") {
			status, err := strconv.Atoi(strings.TrimSpace(number))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, status)
		}
	}
	want := []int{
		http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusRequestTimeout, http.StatusPreconditionFailed,
		http.StatusUnsupportedMediaType, http.StatusMisdirectedRequest, // of HTTP alone
	}
	for _, code := range []fault.Code{
		fault.Invalid, fault.Unauthenticated, fault.Forbidden, fault.NotFound, fault.Conflict, fault.TooLarge, fault.RateLimited, fault.Unavailable, fault.Internal,
	} {
		want = append(want, StatusOf(code))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("documented are %v, and there are %v", got, want)
	}
}
