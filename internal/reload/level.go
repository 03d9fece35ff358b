package reload

import (
	"context"
	"net/http"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

// LevelPath is where the level of the log is.
const LevelPath = "/rest/outrigger/1.0/log-level"

// LogLevel is the lowest level that a node logs.
type LogLevel struct {
	Level string `json:"level" enum:"debug,info,warn,error" doc:"The lowest level that this node logs." example:"debug"`
}

// read judges a level that a client gives, and returns it as settings have it.
func (l LogLevel) read() (string, error) {
	switch level := strings.ToLower(l.Level); level {
	case "debug", "info", "warn", "error":
		return level, nil
	}
	return "", fault.InvalidField("level", "Write debug, info, warn or error.")
}

func (a *API) registerLevel(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: LevelPath, Access: rest.SysAdmins}, rest.Words{
		ID: "getLogLevel", Tag: "operation", Summary: "Returns the level of the log.", Answer: "The level of the node that answers.",
		Text: "Needs `SYS_ADMIN`. It is `log.level` of the configuration, or what was set since the last start or reload. Each node " +
			"has its own.",
	}, func(context.Context, struct{}) (LogLevel, error) { return LogLevel{a.Level()}, nil },
		rest.Example[struct{}, LogLevel]{Name: "fresh", Out: &LogLevel{"info"}})
	rest.Add(r, rest.Route{Method: "PUT", Path: LevelPath, Access: rest.SysAdmins}, rest.Words{
		ID: "saveLogLevel", Tag: "operation", Summary: "Sets the level of the log.", Answer: "The level that holds.",
		Text: "Needs `SYS_ADMIN`. It holds at once, on the node that answers, until the next reload or restart, which take that of the " +
			"configuration. It is in the audit trail.",
		Refused: []int{http.StatusServiceUnavailable},
	}, func(ctx context.Context, in LogLevel) (LogLevel, error) {
		level, err := in.read()
		if err == nil {
			err = a.SetLevel(ctx, level)
		}
		return LogLevel{level}, err
	}, rest.Example[LogLevel, LogLevel]{Name: "debug", In: LogLevel{"debug"}, Out: &LogLevel{"debug"}})
}
