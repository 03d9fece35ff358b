package smtpd

import "fmt"

// Reply is what a client hears instead of success. Backends return it as an
// error.
type Reply struct {
	Code     int    // RFC 5321, 4.2.1
	Enhanced string // RFC 3463, such as 5.5.1
	Text     string
}

func (r *Reply) Error() string { return fmt.Sprintf("%d %s %s", r.Code, r.Enhanced, r.Text) }

var (
	replyNotTaking   = &Reply{421, "4.3.2", "This node does not accept mail now; try again later."}
	replyStopping    = &Reply{421, "4.3.2", "The server is stopping; try again in a moment."}
	replyFull        = &Reply{421, "4.3.2", "Too many connections; try again in a moment."}
	replyFullAddress = &Reply{421, "4.3.2", "Too many connections from your address; close some first."}
	replyIdle        = &Reply{421, "4.4.2", "Timed out waiting for a command."}
	replyNoMessages  = &Reply{421, "4.4.2", "Timed out waiting for a message."}
	replyTooSlow     = &Reply{421, "4.4.2", "The message arrived too slowly: less than 1 KiB per second."}
	replyCutOff      = &Reply{421, "4.4.2", "The message was cut off."}
	replyMistakes    = &Reply{421, "4.7.0", "Too many errors."}

	replyUnknown     = &Reply{500, "5.5.2", "Unknown command."}
	replyLongCommand = &Reply{500, "5.5.2", "The line is too long."}
	replyLineEnd     = &Reply{500, "5.5.2", "There is a bare carriage return or line feed; lines end in CRLF."}
	replyNULCommand  = &Reply{500, "5.5.2", "There is a NUL byte in the line."}
	replyNotOffered  = &Reply{502, "5.5.1", "Command not supported."}
	replyNoArgument  = &Reply{501, "5.5.4", "This command takes no argument."}
	replyHello       = &Reply{503, "5.5.1", "Send EHLO first."}
	replyNested      = &Reply{503, "5.5.1", "MAIL was sent already; RSET starts over."}
	replyNoSender    = &Reply{503, "5.5.1", "Send MAIL first."}
	replyNoMessage   = &Reply{503, "5.5.1", "Send MAIL and RCPT first."}
	replyInChunks    = &Reply{503, "5.5.1", "BDAT is in progress; DATA is not allowed."}
	replyRecipients  = &Reply{452, "4.5.3", "Too many recipients; send the rest in another message."}

	replyPath        = &Reply{501, "5.5.4", "Write FROM:<address> or TO:<address>."}
	replyParameter   = &Reply{555, "5.5.4", "Parameter not supported."}
	replyValue       = &Reply{501, "5.5.4", "Invalid parameter value."}
	replyNoDSN       = &Reply{504, "5.5.4", "Delivery status notifications are not supported."}
	replyBody        = &Reply{504, "5.5.4", "BODY is 7BIT or 8BITMIME."}
	replyAddress     = &Reply{501, "5.1.3", "Invalid address."}
	replyAddressLong = &Reply{501, "5.1.3", "The address is longer than 254 bytes."}
	replyASCII       = &Reply{553, "5.6.7", "An address that is not ASCII needs SMTPUTF8."}

	replyBareLF = &Reply{554, "5.6.0", "There is a line feed without a carriage return before it; lines end in CRLF."}
	replyBareCR = &Reply{554, "5.6.0", "There is a carriage return without a line feed after it; lines end in CRLF."}
	replyNUL    = &Reply{554, "5.6.0", "There is a NUL byte in the message."}

	replyNotSigned = &Reply{530, "5.7.0", "Sign in first, with a token of scope mail."}
	replyNeedsTLS  = &Reply{538, "5.7.11", "Encryption required; send STARTTLS before AUTH."}
	replySigned    = &Reply{503, "5.5.1", "You are already signed in."}
	replyMechanism = &Reply{504, "5.5.4", "The mechanisms are PLAIN and LOGIN."}
	replyGivenUp   = &Reply{501, "5.7.0", "Authentication was cancelled."}
	replyExchange  = &Reply{501, "5.5.2", "The response is invalid for this mechanism."}
	replyNoAnswer  = &Reply{454, "4.7.0", "Authentication is temporarily unavailable; try again later."}
	replyGuesses   = &Reply{421, "4.7.0", "Too many failed sign-ins."}

	replyTLSActive  = &Reply{503, "5.5.1", "TLS is already active."}
	replyTLSInject  = &Reply{503, "5.5.1", "Do not send commands after STARTTLS before its reply."}
	replyTransient  = &Reply{451, "4.3.0", "The message could not be stored; try again later."}
	replyChunkValue = &Reply{501, "5.5.4", "Write BDAT, the number of bytes, and LAST for the last chunk."}
)
