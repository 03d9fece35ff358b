package console

// toDo is what is left of the first steps of a service.
type toDo struct {
	Title string
	Done  int // of All
	All   int
	Steps []Step // those that are not done
}

// toDo are the first steps of a service as far as they are to be done: none once
// they are.
func (c *Card) toDo() []toDo {
	left := toDo{Title: c.Title, All: len(c.Steps)}
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
	return []toDo{left}
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
