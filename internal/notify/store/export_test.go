package store

import "outrigger/internal/db"

// What the tests of operations on the store use, which are in package store_test
// because the package admin imports the store.

// DB returns the database of the store.
func (s *Store) DB() *db.DB { return s.db }

var (
	Accept            = accept
	AcceptMany        = acceptMany
	Ada               = ada
	AddUp             = addUp
	Administers       = administers
	As                = as
	AsAdmin           = asAdmin
	CameBy            = cameBy
	CancelAll         = cancelAll
	Count             = count
	Damage            = damage
	Decoders          = decoders
	EachStore         = eachStore
	FillLog           = fillLog
	FlowURL           = flowURL
	HookOf            = hookOf
	IdsOf             = idsOf
	Keeper            = keeper
	MaxEventsRead     = maxEventsRead
	Place             = place
	PushedTo          = pushedTo
	ReportDay         = reportDay
	RepositoryMoved   = repositoryMoved
	RepositoryRenamed = repositoryRenamed
	RunAt             = runAt
	Save              = save
	SaveReport        = saveReport
	Sender            = sender
	SomeReport        = someReport
	SomeRule          = someRule
	States            = states
	UpdateChannel     = updateChannel
	Waiting           = waiting
	Webhook           = webhook
	Masked            = masked
	Push              = push
	Undecided         = undecided
	Settle            = settle
	Backtracking      = backtracking
)
