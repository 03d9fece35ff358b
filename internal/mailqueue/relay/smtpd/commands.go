package smtpd

import (
	"strconv"
)

// do carries out one command.
func (c *conn) do(line string) {
	verb, rest := word(line)
	switch verb {
	case "EHLO", "HELO":
		c.greet(verb == "EHLO", rest)
	case "MAIL":
		c.mail(rest)
	case "RCPT":
		c.rcpt(rest)
	case "DATA":
		c.data(rest)
	case "BDAT":
		c.bdat(rest)
	case "RSET":
		c.reset()
		c.say(250, "2.0.0 The message is forgotten.")
	case "NOOP":
		c.say(250, "2.0.0 Nothing was done.")
	case "VRFY":
		c.say(252, "2.5.0 Addresses are not verified; send and see.")
	case "AUTH":
		c.auth(rest)
	case "STARTTLS":
		c.startTLS(rest)
	case "QUIT":
		c.say(221, "2.0.0 Goodbye.")
		c.closing, c.gone = true, true
	case "EXPN", "HELP", "ETRN", "TURN":
		c.mistake(replyNotOffered)
	default:
		c.mistake(replyUnknown)
	}
}

// reset forgets a message that is not complete.
func (c *conn) reset() {
	c.endChunks()
	c.env = nil
}

func (c *conn) greet(extended bool, name string) {
	if name == "" {
		c.mistake(&Reply{501, "5.5.4", "Give your host name."})
		return
	}
	c.reset()
	c.hello, c.extended = name, extended
	if !extended {
		c.say(250, c.server.o.Hostname)
		return
	}
	lines := []string{c.server.o.Hostname, "PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES", "CHUNKING", "SMTPUTF8",
		"SIZE " + strconv.FormatInt(c.server.o.MaxMessage, 10)}
	if c.server.o.TLS != nil && !c.secure {
		lines = append(lines, "STARTTLS")
	}
	if c.mayAuth() {
		lines = append(lines, "AUTH PLAIN LOGIN")
	}
	c.say(250, lines...)
}

// mail begins a message.
func (c *conn) mail(rest string) {
	now, _ := c.server.state()
	switch {
	case now != taking:
		c.refuse(replyNotTaking)
		return
	case c.hello == "":
		c.mistake(replyHello)
		return
	case c.needsAuth && c.user == "":
		c.refuse(replyNotSigned)
		return
	case c.env != nil:
		c.mistake(replyNested)
		return
	}
	if r := c.signedInStill(); r != nil {
		c.refuse(r)
		return
	}
	path, parameters, ok := parsePath(rest, "FROM:")
	if !ok {
		c.mistake(replyPath)
		return
	}
	env := &Envelope{Hello: c.hello, Extended: c.extended, Address: c.address, TLS: c.secure, User: c.user}
	if r := c.mailParameters(env, parameters); r != nil {
		c.refuse(r)
		return
	}
	if path != "" {
		address, r := parseAddress(path, env.UTF8)
		if r != nil {
			c.refuse(r)
			return
		}
		env.Sender = address
	}
	c.begun, c.env = true, env
	c.say(250, "2.1.0 The sender is taken.")
}

func (c *conn) mailParameters(env *Envelope, parameters []parameter) *Reply {
	for _, p := range parameters {
		switch p.name {
		case "SIZE":
			size, err := strconv.ParseUint(p.value, 10, 63)
			if err != nil {
				return replyValue
			}
			if int64(size) > c.server.o.MaxMessage {
				return c.tooLarge()
			}
		case "BODY":
			if body := upper(p.value); body != "7BIT" && body != "8BITMIME" {
				return replyBody
			}
		case "SMTPUTF8":
			if p.value != "" {
				return replyValue
			}
			env.UTF8 = true
		case "AUTH":
			// RFC 4954, 5: who submitted it first. No client is trusted for that.
			if !c.needsAuth {
				return replyParameter
			}
		case "RET", "ENVID":
			return replyNoDSN
		default:
			return replyParameter
		}
	}
	return nil
}

func (c *conn) tooLarge() *Reply {
	return &Reply{552, "5.3.4", "The message is larger than " + strconv.FormatInt(c.server.o.MaxMessage, 10) + " bytes."}
}

// rcpt adds a recipient.
func (c *conn) rcpt(rest string) {
	switch {
	case c.env == nil:
		c.mistake(replyNoSender)
		return
	case c.chunk != nil:
		c.mistake(replyInChunks)
		return
	}
	path, parameters, ok := parsePath(rest, "TO:")
	if !ok || path == "" {
		c.mistake(replyPath)
		return
	}
	if len(parameters) > 0 {
		if name := parameters[0].name; name == "NOTIFY" || name == "ORCPT" {
			c.refuse(replyNoDSN)
		} else {
			c.refuse(replyParameter)
		}
		return
	}
	address, r := parseRecipient(path, c.env.UTF8)
	switch {
	case r != nil:
		c.refuse(r)
	case len(c.env.Recipients) >= c.server.o.MaxRecipients:
		c.refuse(replyRecipients)
	default:
		c.env.Recipients = append(c.env.Recipients, address)
		c.say(250, "2.1.5 The recipient is taken.")
	}
}
