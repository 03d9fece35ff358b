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
	replyNotTaking   = &Reply{421, "4.3.2", "This node takes no mail now; try again later."}
	replyStopping    = &Reply{421, "4.3.2", "The server is stopping; try again in a moment."}
	replyFull        = &Reply{421, "4.3.2", "There are too many connections; try again in a moment."}
	replyFullAddress = &Reply{421, "4.3.2", "There are too many connections from your address; close some first."}
	replyIdle        = &Reply{421, "4.4.2", "Nothing came for too long."}
	replyNoMessages  = &Reply{421, "4.4.2", "No message came for too long."}
	replyTooSlow     = &Reply{421, "4.4.2", "The message came too slowly: less than 1 KiB a second."}
	replyCutOff      = &Reply{421, "4.4.2", "The message did not come to its end."}
	replyMistakes    = &Reply{421, "4.7.0", "There were too many mistakes."}

	replyUnknown     = &Reply{500, "5.5.2", "There is no such command."}
	replyLongCommand = &Reply{500, "5.5.2", "The line is too long."}
	replyLineEnd     = &Reply{500, "5.5.2", "There is a bare carriage return or line feed; lines end in CRLF."}
	replyNULCommand  = &Reply{500, "5.5.2", "There is a NUL byte in the line."}
	replyNotOffered  = &Reply{502, "5.5.1", "This command is not offered."}
	replyNoArgument  = &Reply{501, "5.5.4", "This command takes no argument."}
	replyHello       = &Reply{503, "5.5.1", "Say EHLO first."}
	replyNested      = &Reply{503, "5.5.1", "There is a sender already; RSET begins anew."}
	replyNoSender    = &Reply{503, "5.5.1", "There is no sender; MAIL comes first."}
	replyNoMessage   = &Reply{503, "5.5.1", "There is no sender or recipient."}
	replyInChunks    = &Reply{503, "5.5.1", "The message comes in chunks already."}
	replyRecipients  = &Reply{452, "4.5.3", "There are too many recipients; send the rest in another message."}

	replyPath        = &Reply{501, "5.5.4", "Write FROM:<address> or TO:<address>."}
	replyParameter   = &Reply{555, "5.5.4", "There is a parameter that is not offered."}
	replyValue       = &Reply{501, "5.5.4", "A parameter has a value that it cannot have."}
	replyNoDSN       = &Reply{504, "5.5.4", "Delivery status notifications are not offered."}
	replyBody        = &Reply{504, "5.5.4", "BODY is 7BIT or 8BITMIME."}
	replyAddress     = &Reply{501, "5.1.3", "That is not an address."}
	replyAddressLong = &Reply{501, "5.1.3", "The address is longer than 254 bytes."}
	replyASCII       = &Reply{553, "5.6.7", "An address that is not ASCII needs SMTPUTF8."}

	replyBareLF = &Reply{554, "5.6.0", "There is a line feed without a carriage return before it; lines end in CRLF."}
	replyBareCR = &Reply{554, "5.6.0", "There is a carriage return without a line feed behind it; lines end in CRLF."}
	replyNUL    = &Reply{554, "5.6.0", "There is a NUL byte in the message."}

	replyNotSigned = &Reply{530, "5.7.0", "Sign in first, with a token of scope mail."}
	replyNeedsTLS  = &Reply{538, "5.7.11", "Sign in within TLS; STARTTLS begins it."}
	replySigned    = &Reply{503, "5.5.1", "You have signed in already."}
	replyMechanism = &Reply{504, "5.5.4", "The mechanisms are PLAIN and LOGIN."}
	replyGivenUp   = &Reply{501, "5.7.0", "The exchange was given up."}
	replyExchange  = &Reply{501, "5.5.2", "The answer is not one of this mechanism."}
	replyNoAnswer  = &Reply{454, "4.7.0", "Signing in is not possible now; try again later."}
	replyGuesses   = &Reply{421, "4.7.0", "There were too many attempts to sign in."}

	replyTLSActive  = &Reply{503, "5.5.1", "TLS is active already."}
	replyTLSInject  = &Reply{503, "5.5.1", "Nothing may be sent behind STARTTLS before its answer."}
	replyTransient  = &Reply{451, "4.3.0", "The message could not be stored; try again later."}
	replyChunkValue = &Reply{501, "5.5.4", "Write BDAT, a number of bytes, and LAST where it is the last."}
)
