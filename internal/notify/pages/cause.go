package pages

import "outrigger/internal/notify/answer"

// Cause is the reason in a row of a list.
func (r deliveryRow) Cause() string { return answer.Brief(r.Reason) }

// Cause is why a channel is not well, in a row of a list.
func (r channelRow) Cause() string { return answer.Brief(r.Standing.Reason) }

// Cause is why the rule's channel is not well, in a row of a list.
func (r ruleRow) Cause() string { return answer.Brief(r.Detail) }

// Cause is why the report's channel is not well, in a row of a list.
func (r reportRow) Cause() string { return answer.Brief(r.Detail) }
