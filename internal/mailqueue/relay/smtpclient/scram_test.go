package smtpclient

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net"
	"strings"

	"github.com/xdg-go/scram"
)

// scramServer takes SCRAM-SHA-256 with the password known, and PLAIN with any; it
// reports whether PLAIN was used. A forged one takes everybody without a proof.
func scramServer(conn net.Conn, known string, forged bool) (plain bool) {
	client, _ := scram.SHA256.NewClient("ann", known, "")
	stored, _ := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt", Iters: 4096})
	server, _ := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return stored, nil })
	talk := server.NewConversation()
	in := bufio.NewReader(conn)
	hear := func() string {
		line, _ := in.ReadString('\n')
		return strings.TrimSpace(line)
	}
	step := func(text string) (string, error) {
		raw, _ := base64.StdEncoding.DecodeString(text)
		answer, err := talk.Step(string(raw))
		return base64.StdEncoding.EncodeToString([]byte(answer)), err
	}
	fmt.Fprint(conn, "220 x\r\n")
	hear()
	fmt.Fprint(conn, "250-x\r\n250 AUTH PLAIN LOGIN SCRAM-SHA-256\r\n")
	answer, _ := step(strings.TrimPrefix(hear(), "AUTH SCRAM-SHA-256 "))
	fmt.Fprintf(conn, "334 %s\r\n", answer)
	final, err := step(hear())
	switch {
	case forged:
		fmt.Fprint(conn, "235 2.7.0 Welcome\r\n")
	case err != nil:
		fmt.Fprint(conn, "535 5.7.8 No\r\n")
		plain = strings.HasPrefix(hear(), "AUTH PLAIN ")
		fmt.Fprint(conn, "235 2.7.0 Welcome\r\n")
	default:
		fmt.Fprintf(conn, "334 %s\r\n", final)
		hear()
		fmt.Fprint(conn, "235 2.7.0 Welcome\r\n")
	}
	return plain
}
