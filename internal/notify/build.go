package notify

import "time"

// PlatformBuild is a build as the platform has it.
type PlatformBuild struct {
	Build
	Ref string    // of the build; "" where it was posted without one
	At  time.Time // when it was set; zero where the platform does not say
}
