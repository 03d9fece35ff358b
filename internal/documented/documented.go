// Package documented finds the commands that the documentation shows, and knows where
// each is tried.
package documented

import (
	"regexp"
	"strings"
)

// Place is where a command is tried.
type Place string

// The places: Server in the tests of the command line, the others in make package-test.
// What is Nowhere has a reason.
const (
	Server  Place = "server"  // a server on this machine
	Debian  Place = "debian"  // a booted Debian, as root
	Docker  Place = "docker"  // the image, by a program that takes docker's commands
	Compose Place = "compose" // the unpacked compose file
	Cluster Place = "cluster" // the chart, by helm
	Nowhere Place = "nowhere"
)

// Command is one of a page of the documentation, with all of its lines.
type Command struct{ Page, Text string }

// Begins reports whether the command begins like that.
func (c Command) Begins(with string) bool { return strings.HasPrefix(c.Text, with) }

type entry struct {
	begins string
	place  Place
	why    string
}

// tried says by how commands begin where they are tried, and why where that is nowhere.
// The first that fits counts.
var tried = []entry{
	{"make ", Nowhere, "it builds or tests the repository itself: make dist is what make package-test begins with"},
	{"outrigger serve ", Nowhere, "the test of the commands has started it so"},
	{"openssl rand -hex 32 >", Nowhere, "the server that runs has its secret"},
	{"outrigger users second-factor", Nowhere, "the user has none"},
	{"curl --user ada ", Nowhere, "it needs an account on the cloud platform"},
	{"curl -i https://tools.example", Nowhere, "it needs a proxy in front: proxies.sh asks for the same"},
	{"sudo dnf ", Nowhere, "dnf wants the rpms that ours depends on: rpm.sh installs the same file with rpm"},
	{"nano ", Nowhere, "it is an editor"},
	{"Connect-ExchangeOnline", Nowhere, "it is of Exchange Online"},
	{"New-ServicePrincipal ", Nowhere, "it is of Exchange Online"},
	{"Add-MailboxPermission ", Nowhere, "it is of Exchange Online"},
	{"Set-CASMailbox ", Nowhere, "it is of Exchange Online"},
	{"docker compose ", Nowhere, "the images of nginx and PostgreSQL cannot be had: nodes.sh replaces the nodes behind the same nginx, " +
		"the compose file is read by its specification's library"},
	{"docker ", Docker, ""},
	{"tar -xzf outrigger-v", Compose, ""},
	{"./secrets.sh", Compose, ""},
	{"helm ", Cluster, ""},
	{"sudo ", Debian, ""},
	{"systemctl ", Debian, ""},
	{"sha256sum ", Debian, ""},
	{"openssl rand -hex 32 | sudo ", Debian, ""},
	{"outrigger version", Debian, ""},
	{"outrigger ", Server, ""},
	{"curl ", Server, ""},
	{"export ", Server, ""},
	{"files=", Server, ""},
}

// Place returns where the command is tried; why says more where that is nowhere. It is
// "" for a command that nobody has thought of.
func (c Command) Place() (place Place, why string) {
	for _, t := range tried {
		if c.Begins(t.begins) {
			return t.place, t.why
		}
	}
	return "", ""
}

var block = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")

// Commands are the commands of a page. Blocks of other files have none.
func Commands(page, text string) (all []Command) {
	for _, b := range block.FindAllStringSubmatch(text, -1) {
		if b[1] != "sh" && b[1] != "" {
			continue
		}
		command := ""
		for line := range strings.Lines(b[2]) {
			command += line
			whole := strings.TrimSpace(command)
			if strings.HasSuffix(whole, "\\") || strings.Count(whole, "'")%2 == 1 {
				continue // goes on
			}
			if whole != "" {
				all = append(all, Command{page, whole})
			}
			command = ""
		}
	}
	return all
}
