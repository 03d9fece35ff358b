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

// stepsHidden reports whether the reader has hidden the first steps.
func (x *exchange) stepsHidden() (bool, error) {
	return x.c.opts.Identity.FirstStepsHidden(x.r.Context())
}

// chooseSteps hides the first steps from the reader, or shows them again.
func (c *Console) chooseSteps(x *exchange) (Response, error) {
	form, err := ReadForm(x.r)
	if err != nil {
		return nil, err
	}
	if err := c.opts.Identity.HideFirstSteps(x.r.Context(), form.Get("steps") == "hidden"); err != nil {
		return nil, err
	}
	return Redirect{To: "/"}, nil
}
