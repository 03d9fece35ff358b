package console

// stepsLeft is what remains of the first steps of a service.
type stepsLeft struct {
	Title string
	Done  int // of All
	All   int
	Steps []Step // those that are not done
}

// stepsLeft returns what remains of the first steps of a service; nothing once all are
// done.
func (c *Card) stepsLeft() []stepsLeft {
	left := stepsLeft{Title: c.Title, All: len(c.Steps)}
	for _, s := range c.Steps {
		if s.Done {
			left.Done++
		} else {
			left.Steps = append(left.Steps, s)
		}
	}
	if left.Steps == nil {
		return nil
	}
	return []stepsLeft{left}
}

const (
	// stepsCookie says that the first steps are dismissed in this browser.
	stepsCookie = "outrigger_first_steps"
	stepsHidden = "hidden"
	stepsKept   = 365 * 24 * 60 * 60 // seconds
)

func (x *exchange) stepsHidden() bool {
	cookie, err := x.r.Cookie(stepsCookie)
	return err == nil && cookie.Value == stepsHidden
}

// chooseSteps hides the first steps in this browser, or shows them again.
func (c *Console) chooseSteps(x *exchange) (Response, error) {
	form, err := ReadForm(x.r)
	if err != nil {
		return nil, err
	}
	if form.Get("steps") == stepsHidden {
		x.cookie(stepsCookie, stepsHidden, stepsKept)
	} else {
		x.dropCookie(stepsCookie)
	}
	return Redirect{To: "/"}, nil
}
