package cloudsite

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"
)

// Limits are how often the site lets itself be asked. What is zero has no limit.
type Limits struct {
	PerSecond map[string]int // requests to each endpoint, by method
	PerIssue  []Window       // writes to one issue
	Quota     int            // requests an hour; each costs one point
}

// Window allows a number of requests in any stretch of time.
type Window struct {
	Requests int
	In       time.Duration
}

// Documented are the vendor's limits of an API token, which has no quota.
func Documented() Limits {
	return Limits{
		PerSecond: map[string]int{http.MethodGet: 100, http.MethodPut: 50, http.MethodDelete: 50},
		PerIssue:  []Window{{20, 2 * time.Second}, {100, 30 * time.Second}},
	}
}

// What RateLimit-Reason says.
const (
	burstReason = "jira-burst-based"
	issueReason = "jira-per-issue-on-write"
	quotaReason = "jira-quota-tenant-based"
)

// limiter counts against the limits; its owner locks.
type limiter struct {
	Limits
	endpoints map[string]*rate.Limiter
	issues    map[int64][]time.Time // writes that a window still counts
	hour      time.Time
	spent     int // in that hour
}

func newLimiter(l Limits) *limiter {
	return &limiter{Limits: l, endpoints: map[string]*rate.Limiter{}, issues: map[int64][]time.Time{}}
}

// take counts a request; not ok with the answer when it is too much.
func (l *limiter) take(r Request, now time.Time) (refusal answer, ok bool) {
	if l.Quota > 0 {
		if hour := now.Truncate(time.Hour); !hour.Equal(l.hour) {
			l.hour, l.spent = hour, 0
		}
		if l.spent >= l.Quota {
			return tooOften(quotaReason, l.Quota, now, l.hour.Add(time.Hour).Sub(now)), false
		}
	}
	if limit := l.PerSecond[r.Method]; limit > 0 {
		endpoint := r.Method
		if r.Key == "" {
			endpoint += " list"
		}
		bucket := l.endpoints[endpoint]
		if bucket == nil {
			bucket = rate.NewLimiter(rate.Limit(limit), limit)
			l.endpoints[endpoint] = bucket
		}
		if !bucket.AllowN(now, 1) {
			return tooOften(burstReason, limit, now, time.Second), false
		}
	}
	if r.writes() {
		if limit, wait := l.takeWrite(r.Issue, now); wait > 0 {
			return tooOften(issueReason, limit, now, wait), false
		}
	}
	l.spent++
	return answer{}, true
}

// takeWrite counts a write to an issue; what comes back is the limit that is
// reached, and how long it is.
func (l *limiter) takeWrite(issue int64, now time.Time) (limit int, wait time.Duration) {
	longest := time.Duration(0)
	for _, w := range l.PerIssue {
		longest = max(longest, w.In)
	}
	var recent []time.Time
	for _, at := range l.issues[issue] {
		if now.Sub(at) < longest {
			recent = append(recent, at)
		}
	}
	l.issues[issue] = recent
	for _, w := range l.PerIssue {
		if n := len(recent) - w.Requests; n >= 0 && now.Sub(recent[n]) < w.In {
			return w.Requests, w.In - now.Sub(recent[n])
		}
	}
	if longest > 0 {
		l.issues[issue] = append(recent, now)
	}
	return 0, 0
}

// nearLimit reports whether less than a fifth of the quota is left.
func (l *limiter) nearLimit() bool { return l.Quota > 0 && (l.Quota-l.spent)*5 < l.Quota }

func tooOften(reason string, limit int, now time.Time, wait time.Duration) answer {
	a := failure(http.StatusTooManyRequests, "The request has been rate-limited. Please try again later.")
	a.header["RateLimit-Reason"] = reason
	a.header["Retry-After"] = strconv.Itoa(int(math.Ceil(wait.Seconds())))
	a.header["X-RateLimit-Limit"] = strconv.Itoa(limit)
	a.header["X-RateLimit-Remaining"] = "0"
	a.header["X-RateLimit-Reset"] = now.Add(wait).UTC().Format(time.RFC3339)
	return a
}
