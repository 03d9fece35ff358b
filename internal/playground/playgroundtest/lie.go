package playgroundtest

// Lie is a way in which the provider's answers prove nothing, or something else
// than they should.
type Lie string

const (
	WrongNonce      Lie = "wrong nonce"
	NoNonce         Lie = "no nonce"
	WrongAudience   Lie = "wrong audience"
	WrongIssuer     Lie = "wrong issuer"
	OtherParty      Lie = "other party"      // azp is another client
	ManyAudiences   Lie = "many audiences"   // and no azp
	Expired         Lie = "expired"          // an hour ago
	NotYet          Lie = "not yet"          // nbf is in an hour
	Ahead           Lie = "ahead"            // issued in two minutes
	Unsigned        Lie = "unsigned"         // alg none
	SignedBySecret  Lie = "signed by secret" // HS256 with the client's secret
	OtherKey        Lie = "other key"        // under the id of the right one
	UnknownKey      Lie = "unknown key"      // of an id that the key set does not have
	Altered         Lie = "altered"          // after it was signed
	NoIDToken       Lie = "no ID token"
	NotAToken       Lie = "not a token"
	NoSubject       Lie = "no subject"
	WrongAccessHash Lie = "wrong access hash" // at_hash is of another access token
	OtherUserInfo   Lie = "other user info"   // of another account
	NoAuthTime      Lie = "no auth_time"      // as from a provider that does not say it
	OtherDiscovery  Lie = "other discovery"   // the configuration is of another issuer
	PlainEndpoints  Lie = "plain endpoints"   // the configuration has endpoints without TLS on another host
	OtherSender     Lie = "other sender"      // browsers come back with another issuer
	NoSender        Lie = "no sender"         // browsers come back with none
	NoKeys          Lie = "no keys"           // the configuration has no key set
)
