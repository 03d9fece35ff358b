package notify

// OfReport is the number by which deliveries name a report: below zero, where no
// rule's id is. So a report's message goes the way of every other.
func OfReport(id int64) int64 { return -id }

// ReportIDs are the ids of the reports among what a delivery is for.
func ReportIDs(rules []int64) (ids []int64) {
	for _, id := range rules {
		if id < 0 {
			ids = append(ids, -id)
		}
	}
	return ids
}

// RuleIDs are the rules among what a delivery is for, never nil.
func RuleIDs(rules []int64) []int64 {
	ids := []int64{}
	for _, id := range rules {
		if id > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// ReportTarget is where an enabled report sends, and how.
type ReportTarget struct {
	Destination
	Mentions bool
}

// ReportTargets are the enabled reports, by their numbers in deliveries.
type ReportTargets map[int64]ReportTarget

func (r ReportTargets) has(of int64) bool {
	if of >= 0 { // a rule: no need to look
		return false
	}
	_, ok := r[of]
	return ok
}

func (r ReportTargets) on(of int64, at Destination) bool { return of < 0 && r[of].Destination == at }

func (r ReportTargets) mentions(of int64) bool { return of < 0 && r[of].Mentions }
