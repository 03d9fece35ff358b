package samples

import (
	"strings"

	"outrigger/internal/playground/bodies"
)

// Person is one of those in the story.
type Person struct {
	ID                int
	Name, DisplayName string
}

// People are all of them.
func People() []Person { return people[:] }

// The ids of people are the platform's.
var people = [...]Person{
	{101, "ada", "Ada Lovelace"},
	{102, "grace", "Grace Hopper"},
	{103, "alan", "Alan Turing"},
	{104, "katherine", "Katherine Johnson"},
	{105, "edsger", "Edsger Dijkstra"},
	{106, "barbara", "Barbara Liskov"},
}

var repositories = [...]string{"engine", "card-reader", "orbit-tables"}

// repository is one of the project ATL, or of its owner's own.
type repository struct {
	Slug  string
	Owner *Person
}

func (r repository) Key() string {
	if r.Owner != nil {
		return "~" + strings.ToUpper(r.Owner.Name)
	}
	return "ATL"
}

func (r repository) ProjectID() int {
	if r.Owner != nil {
		return r.Owner.ID + 1000
	}
	return 11
}

func (r repository) Page() string {
	if r.Owner != nil {
		return "/users/" + r.Owner.Name
	}
	return "/projects/ATL"
}

func (r repository) ID() int           { return len(r.Slug) + r.ProjectID()*10 }
func (r repository) Clone() string     { return strings.ToLower(r.Key()) + "/" + r.Slug }
func (r repository) Hierarchy() string { return bodies.Sum("hierarchy/" + r.Slug)[:20] }

// topics are what branches and pull requests are about.
var topics = [...]struct{ branch, title, description string }{
	{"punch-card-reader", "Read punch cards with folded corners", "Folded corners used to stop the reader.\n\n" +
		"* the sensor is asked twice\n" +
		"* a card that stays unreadable goes to its own tray\n\n" +
		"Measured on 400 cards: none is lost."},
	{"difference-wheel", "Carry over all seven wheels at once", "The carry went wheel by wheel, which took seven turns. " +
		"Now a lever lifts all of them.\n\nSee the drawing in `doc/carry.svg`."},
	{"night-shift", "Let the night shift pause a long computation", "A pause writes the state of every register to the drum and can be " +
		"resumed by anybody."},
	{"orbit-tables", "Round orbit tables half to even", "The last digit of the printed tables was one too high in 0.4 % of all rows."},
	{"moth-in-relay", "Say which relay is stuck", "The panel shows the row and column of the relay, and how often it was reset today."},
}

// checklist ends every description, as teams' templates do.
const checklist = `

## Before this is merged

- [x] The tables computed before and after are the same, but for the rows named above.
- [x] The operators' handbook says what is new, and where the old lever went.
- [ ] Somebody who did not write it has turned the crank for at least an hour.
- [ ] The night shift knows.

## How to try it

1. Put the machine in its resting position and oil the third bearing.
2. Load the deck from the drawer labelled "examples"; card 17 has a folded corner.
3. Compare what is printed with "expected.txt": no line may differ.

If anything jams, stop, write down the wheel and the row, and leave the machine as it is: the marks on the wheels tell more than any log.
`
