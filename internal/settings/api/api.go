// Package api is the settings in the REST API.
package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/settings"
)

const path = "/rest/mtbs/1.0/configuration/settings"

// API answers from a Store.
type API struct {
	Store  *settings.Store
	Client *egress.Client
}

// Settings are the settings that hold.
type Settings struct {
	ProxyURL  string    `json:"proxyUrl,omitempty" example:"http://outrigger:••••@proxy.example.com:3128"`
	Version   int64     `json:"version" doc:"Counts saves."`
	UpdatedBy string    `json:"updatedBy,omitempty" doc:"Who saved them last."`
	UpdatedAt time.Time `json:"updatedAt,omitzero" doc:"When that was."`
}

// MemberWords are those of the members that need more than a few.
func (Settings) MemberWords() map[string]string {
	return map[string]string{
		"proxyUrl": "The proxy of all outgoing HTTP, as http, https or socks5, with user and password if it wants them; the password is " +
			"read back as dots. What NO_PROXY names in the server's environment goes past it.",
	}
}

// Draft is the settings to save.
type Draft struct {
	ProxyURL string `json:"proxyUrl,omitempty" example:"http://outrigger:secret@proxy.example.com:3128"`
	Version  int64  `json:"version,omitempty" doc:"Of the settings that were read. A stale one is 409; 0 or none: the save goes through."`
	rest.Ignored[Settings]
	Wrong fault.Fields `json:"-"`
}

// MemberWords are those of the members that need more than a few.
func (Draft) MemberWords() map[string]string {
	return map[string]string{
		"proxyUrl": "As in the settings; none: the proxy of the environment serves, if any. A masked password keeps the stored one as " +
			"long as scheme, host, port and user are unchanged, and is 400 otherwise.",
	}
}

// Trial is a proxy to try.
type Trial struct {
	ProxyURL string       `json:"proxyUrl,omitempty" doc:"As in the settings; the password may be masked. None: that of the environment."`
	URL      string       `json:"url,omitempty" doc:"What is asked for: an https address, by default that of a chat platform."`
	Wrong    fault.Fields `json:"-"`
}

// Reached says what a trial reached.
type Reached struct {
	Message string `json:"message" doc:"What was reached, and by which way."`
}

// Register adds the operations.
func (a *API) Register(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: path, Access: rest.Admins}, rest.Words{
		ID: "getSettings", Tag: "settings", Summary: "Returns the global settings.", Answer: "The settings that hold.",
		Text: "Needs `ADMIN`. These are the settings that administrators change at run time; those of the configuration file are not " +
			"among them. Send `version` back with a change, so that it is refused where somebody else has saved meanwhile.",
	}, a.read, rest.Example[struct{}, Settings]{Name: "fresh", Out: &Settings{}})
	rest.Add(r, rest.Route{Method: "PUT", Path: path, Access: rest.SysAdmins}, rest.Words{
		ID: "saveSettings", Tag: "settings", Summary: "Saves the global settings.", Answer: "The settings that hold.",
		Text: "They hold on this node when the answer comes, on every other one within a second. The proxy must not be in a link-local or " +
			"metadata range, and requests that carry credentials go through it over https only.",
		Confirmed: true, Refused: []int{http.StatusConflict},
	}, a.save, rest.Example[Draft, Settings]{Name: "none"})
	rest.Add(r, rest.Route{Method: "POST", Path: path + "/test", Access: rest.SysAdmins}, rest.Words{
		ID: "testSettings", Tag: "settings", Summary: "Asks for an address by a proxy, and saves nothing.", Answer: "The address was reached.",
		Text:      "The answer says whether the address was reached; why it was not is in the server's log.",
		Confirmed: true, Refused: []int{http.StatusServiceUnavailable},
	}, a.try, rest.Example[Trial, Reached]{
		Name: "wrong", In: Trial{ProxyURL: "ftp://proxy.example.com"},
		Err: fault.InvalidField("proxyUrl", "The proxy's URL must begin with http://, https:// or socks5://."),
	})
}

func (a *API) read(ctx context.Context, _ struct{}) (Settings, error) {
	return settingsOf(a.Store.Read(ctx))
}

func (a *API) save(ctx context.Context, in Draft) (Settings, error) {
	return settingsOf(a.Store.Save(ctx, settings.Draft{ProxyURL: in.ProxyURL, Version: in.Version}, in.Wrong))
}

func settingsOf(s *settings.Settings, err error) (Settings, error) {
	if err != nil {
		return Settings{}, err
	}
	return Settings{ProxyURL: s.ProxyURL(), Version: s.Version, UpdatedBy: s.UpdatedBy, UpdatedAt: s.UpdatedAt}, nil
}

func (a *API) try(ctx context.Context, in Trial) (Reached, error) {
	message, err := a.Store.Try(ctx, a.Client, in.ProxyURL, in.URL, in.Wrong)
	return Reached{message}, err
}
