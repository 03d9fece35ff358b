package notify

import (
	"cmp"
	"time"
)

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
