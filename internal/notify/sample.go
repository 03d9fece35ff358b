package notify

import "time"

// Sample is what became of messages in a step of time that began at At.
type Sample struct {
	At        time.Time
	Delivered int64
	Failed    int64 // for good, expired ones among them
	Waiting   int64 // at most at once; counted to MaxCounted
}
