//go:build linux && !race

package branchmask

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hungry are masks that take exponential or high polynomial time where a matcher
// goes back without a limit.
var hungry = []string{
	`(a+)+$`, `(a+)+`, `(a*)*b`, `(a*)+$`, `([a-zA-Z]+)*b`, `(a|aa)+$`, `(a|a?)+b`, `(.*a){20}`, `(.*a){12}b`,
	`(a+)+(?=b)`, `(a+)+(?!a)b`, `(a|a)*\1c`, `(?:a?a?a?)*(?=b)`, `((a*)*)*\2b`, `(?:(?:a*)*)*(?=b)`,
	`^(([a-z])+.)+[A-Z]([a-z])+$`, `(x+x+)+y|(a+a+)+y(?=z)`, `(\w+\s?)*(?<=!)`, `(a+){10}(?=b)`, `(?=(a+)+b)a*`,
	`(?!(a+)+c)a*b`, `(?<=a{1,1000})(a+)+b`, `((a+)+)+(?<!a)`, `(?:a|b|ab)*(?=c)`, `(a+)*\1\1c`, `(?i)(A+)+\1b`,
	`(?:(a)|b|a)+\1c`, `(.+)+(?=\R)`, `(\p{L}+)+(?=\d)`, `(?s)(.|\n)*(?<=b)`, `(a?){1000}(?=a{1000})b`, `(?>a*)(a+)+b|(a+)+(?=b)`,
	`(?x) ( a + ) + (?=b)`, `(a+?)+?(?=b)`, `(?:a+)+?\b(?=b)`, `([a&&[^b]]+)+(?=b)`, `(\Qa\E+)+(?=b)`, `(a{1,3}){1,5000}(?=b)`,
	strings.Repeat("a*", 480), strings.Repeat("[ab]*", 400) + "c", strings.Repeat("(.*a)?", 200) + "c",
	`(.*)(.*)(.*)(.*)(.*)(?=b)c`, `.*.*.*.*.*(?=b)c`, `(?=.*.*.*b).*`,
}

// mostCPU is what one match may take of a core. The race detector would make it
// 15 times as much, and say nothing about it.
const mostCPU = 60 * time.Millisecond

func TestHungryMasksCostLittle(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	names := []string{strings.Repeat("a", 10_000), strings.Repeat("a", 9_999) + "!", strings.Repeat("ab", 5_000)}
	exhausted := 0
	for _, d := range dialects() {
		for _, pattern := range hungry {
			m, err := d.compile(pattern)
			if err != nil {
				if d.name == "java" {
					t.Errorf("%s refuses %q: %v", d.name, pattern, err)
				}
				continue // not of this dialect
			}
			for _, name := range names {
				least := time.Hour
				for range 3 { // other processes use the caches meanwhile
					begun := threadTime(t)
					if _, err = m.Match(name); err == ErrBudget {
						exhausted++
					}
					if least = min(least, threadTime(t)-begun); least < mostCPU {
						break
					}
				}
				if least > mostCPU {
					t.Errorf("%s %q on %.3s…: %v of a core, %v", d.name, pattern, name, least, err)
				}
			}
		}
	}
	if exhausted < len(hungry) {
		t.Errorf("only %d of these matches reached the limit; they are not hungry enough", exhausted)
	}
}

// threadTime is the processor time that this thread has used.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
