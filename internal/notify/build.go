package notify

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"outrigger/internal/fault"
)

// PlatformBuild is a build as the platform has it.
type PlatformBuild struct {
	Build
	Ref    string    // of the build; "" where it was posted without one
	At     time.Time // when it was set; zero where the platform does not say
	Number string    // of the run; "" where it was not said
	Added  time.Time // the date of the run, by who says so; zero where it was not said
	Asked  bool      // the platform was asked for it; else the build server posted it
}

// BuildKey is the event key of builds, for which the platform has none.
const BuildKey = "build:status"

// buildStates are those of the platform.
var buildStates = []string{"SUCCESSFUL", "FAILED", "INPROGRESS", "CANCELLED", "UNKNOWN"}

// commitHash is an object name of Git, SHA-1 or SHA-256.
var commitHash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Validate names every wrong member at once.
func (b *PlatformBuild) Validate() error {
	var f fault.Fields
	if !commitHash.MatchString(b.Commit) {
		f.Add("commit", "Write the whole hash of the commit: 40 or 64 digits and letters a to f.")
	}
	if !slices.Contains(buildStates, b.State) {
		f.Add("state", "%q is not a state of a build; use %s.", b.State, strings.Join(buildStates, ", "))
	}
	if b.Key == "" || !fits(b.Key) {
		f.Add("key", "A key has 1 to %d characters.", MaxName)
	}
	if !fits(b.Name) {
		f.Add("name", "Use at most %d characters.", MaxName)
	}
	if !fits(b.Number) {
		f.Add("buildNumber", "Use at most %d characters.", MaxName)
	}
	if !fits(b.Ref) {
		f.Add("ref", "A ref has at most %d characters.", MaxName)
	}
	if b.URL != "" && !isPage(b.URL) {
		f.Add("url", "Write the page of the build as https://host/path, in at most %d bytes.", maxBuildURL)
	}
	return f.Err()
}

// maxBuildURL is how many bytes every browser and chat client takes.
const maxBuildURL = 2000

func isPage(page string) bool {
	u, err := url.Parse(page)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && len(page) <= maxBuildURL
}

// ValidateAt is Validate for a build of a repository, with the repository's keys.
func (b *PlatformBuild) ValidateAt(at RepositoryRef) error {
	var f fault.Fields
	validateBuildKey(&f, "projectKey", at.ProjectKey)
	validateBuildKey(&f, "repositoryKey", at.RepositoryKey)
	if err := f.Join(b.Validate()); err != nil {
		return err
	}
	return f.Err()
}

func validateBuildKey(f *fault.Fields, field, key string) {
	if ValidateKey(f, field, key); !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		f.Add(field, "%q is not a key.", key)
	}
}

// SeenBuild is what was told last of a build of a commit, by its key; the zero
// value: nothing was. Members that were not said are zero.
type SeenBuild struct {
	State  string
	URL    string
	Number string
	Posted time.Time // the date of the run, by its build server
	Asked  time.Time // the date of the run, by the platform, which need not be the same
	At     time.Time // since when it is so
}

// resolve decides by what was seen of the build whether the one that came at a
// time is news, and what is seen of it now. It is where its state is another one,
// or the run: its page, number or date.
func (b *PlatformBuild) resolve(seen SeenBuild, came time.Time) (now SeenBuild, news bool) {
	at := b.At
	if at.IsZero() {
		at = came
	}
	// The platform may answer what it was before its build server said otherwise
	// here.
	if b.Asked && seen.State != "" && !at.After(seen.At) {
		return seen, false
	}
	now = SeenBuild{State: b.State, URL: b.URL, Number: b.Number, Posted: b.Added, At: at}
	if b.Asked {
		now.Posted, now.Asked = time.Time{}, b.Added
	}
	if seen.At.After(at) {
		now.At = seen.At
	}
	if now.State != seen.State || differ(now.URL, seen.URL) || differ(now.Number, seen.Number) ||
		differ(micros(now.Posted), micros(seen.Posted)) || differ(micros(now.Asked), micros(seen.Asked)) {
		return now, true
	}
	now.URL, now.Number = cmp.Or(now.URL, seen.URL), cmp.Or(now.Number, seen.Number)
	if now.Posted.IsZero() {
		now.Posted = seen.Posted
	}
	if now.Asked.IsZero() {
		now.Asked = seen.Asked
	}
	return now, false
}

// differ reports whether two values are known not to be the same.
func differ[T comparable](a, b T) bool {
	var unknown T
	return a != b && a != unknown && b != unknown
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// ResolveBuild decides whether the build that the receipt has is news, by what was
// seen of it, and returns what is seen now.
func (r *Receipt) ResolveBuild(seen SeenBuild) (now SeenBuild, news bool) {
	return r.Build.resolve(seen, r.ReceivedAt)
}
