package smtpd

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"time"
)

const (
	// maxGuesses is how often one connection may fail to sign in.
	maxGuesses = 3

	// signInTime bounds the question to the backend.
	signInTime = 30 * time.Second
)

// mayAuth reports whether signing in is offered: where clients must, and what
// they say cannot be overheard.
func (c *conn) mayAuth() bool { return c.needsAuth && (c.secure || c.server.o.PlainAuth) }

// auth is one exchange of AUTH: RFC 4954, 4.
func (c *conn) auth(rest string) {
	mechanism, initial := word(rest)
	switch {
	case !c.needsAuth:
		c.mistake(replyNotOffered)
		return
	case !c.mayAuth():
		c.refuse(replyNeedsTLS)
		return
	case c.hello == "":
		c.mistake(replyHello)
		return
	case c.user != "" || c.env != nil:
		c.mistake(replySigned)
		return
	case mechanism == "":
		c.mistake(&Reply{501, "5.5.4", "Name a mechanism: PLAIN or LOGIN."})
		return
	}
	var user, token string
	var r *Reply
	switch mechanism {
	case "PLAIN":
		user, token, r = c.plain(initial)
	case "LOGIN":
		user, token, r = c.login(initial)
	default:
		r = replyMechanism
	}
	if r == nil && !c.closing {
		r = c.signIn(user, token)
	}
	if r != nil {
		c.refuse(r)
	}
}

// plain is RFC 4616: an identity to act as, a name and a token.
func (c *conn) plain(initial string) (user, token string, r *Reply) {
	answer, r := c.answer(initial, "")
	if r != nil {
		return "", "", r
	}
	parts := bytes.Split(answer, []byte{0})
	if len(parts) != 3 {
		return "", "", replyExchange
	}
	if as := parts[0]; len(as) > 0 && !bytes.Equal(as, parts[1]) {
		return "", "", nil // acting for another user is not supported; the empty name is refused like a wrong one
	}
	return string(parts[1]), string(parts[2]), nil
}

// login is what many mail clients try first: two questions, after
// draft-murchison-sasl-login.
func (c *conn) login(initial string) (user, token string, r *Reply) {
	name, r := c.answer(initial, "Username:")
	if r != nil {
		return "", "", r
	}
	password, r := c.answer("", "Password:")
	return string(name), string(password), r
}

// answer is what the client says to a challenge, or has said already.
func (c *conn) answer(initial, challenge string) ([]byte, *Reply) {
	if initial == "=" { // RFC 4954, 4: an empty one
		return nil, nil
	}
	if initial == "" {
		c.say(334, base64.StdEncoding.EncodeToString([]byte(challenge)))
		line, ok := c.readCommand()
		switch {
		case !ok:
			return nil, nil // closing
		case line == "*":
			return nil, replyGivenUp
		}
		initial = line
	}
	b, err := base64.StdEncoding.DecodeString(initial)
	if err != nil {
		return nil, replyExchange
	}
	return b, nil
}

func (c *conn) signIn(user, token string) *Reply {
	ctx, cancel := context.WithTimeout(context.Background(), signInTime)
	defer cancel()
	name, err := c.server.o.Backend.SignIn(ctx, user, token, c.address)
	var wrong *Reply
	switch {
	case err == nil:
		c.user, c.shown = name, credentials{user, token}
		c.say(235, "2.7.0 Welcome.")
		return nil
	case !errors.As(err, &wrong):
		return replyNoAnswer
	}
	c.guesses++
	c.server.o.Log.Warn("a mail client failed to sign in", "address", c.address, "user", user, "attempt", c.guesses)
	c.delay(time.Duration(c.server.guesses.add(c.address)) * c.server.penalty)
	if c.guesses >= maxGuesses {
		return replyGuesses
	}
	return wrong
}

// credentials are what a client signed in with.
type credentials struct{ user, token string }

// signedInStill asks about the token again when a message begins and before it is
// stored: it may have been revoked, or its user disabled, since then.
func (c *conn) signedInStill() *Reply {
	if c.user == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), signInTime)
	defer cancel()
	_, err := c.server.o.Backend.SignIn(ctx, c.shown.user, c.shown.token, c.address)
	var wrong *Reply
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return replyNoAnswer
	}
	c.user, c.shown = "", credentials{}
	return replyNotSigned
}

// delay keeps a reply back, but not a server that stops.
func (c *conn) delay(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		now, moved := c.server.state()
		if now == closed {
			return
		}
		select {
		case <-timer.C:
			return
		case <-moved:
		}
	}
}
