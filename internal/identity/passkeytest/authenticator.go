// Package passkeytest is an authenticator in software, for tests of passkeys: what
// a browser with a device answers, byte by byte as in
// https://www.w3.org/TR/webauthn-3/.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// Authenticator has one key, which Create makes.
type Authenticator struct {
	Origin   string // of the page, as the browser sees it
	Unlocked bool   // it knows its owner: by finger, face or PIN
	Counter  uint32 // of the next use; it counts on
	Synced   bool   // it does not count: the counter is always 0, as of keys that several devices share

	rp     string
	key    *ecdsa.PrivateKey
	id     []byte
	handle []byte // of the user
}

// The flags of an answer: the owner touched it, was verified, a key is attached.
const (
	present  = 0x01
	verified = 0x04
	attached = 0x40
)

type options struct {
	Challenge string `json:"challenge"`
	RPID      string `json:"rpId"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	User struct {
		ID string `json:"id"`
	} `json:"user"`
}

// Create makes the key that the server asks for, and returns the browser's answer.
func (a *Authenticator) Create(asked []byte) ([]byte, error) {
	var o options
	if err := json.Unmarshal(asked, &o); err != nil {
		return nil, fmt.Errorf("reading the options: %w", err)
	}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	if a.handle, err = base64.RawURLEncoding.DecodeString(o.User.ID); err != nil {
		return nil, fmt.Errorf("reading the user: %w", err)
	}
	a.rp, a.id = o.RP.ID, make([]byte, 16)
	rand.Read(a.id) // never fails
	data := a.data(present | attached)
	data = append(data, make([]byte, 16)...) // no model
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(data, a.id...)
	public, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: fixed(a.key.X), -3: fixed(a.key.Y)})
	if err != nil {
		return nil, fmt.Errorf("writing the key: %w", err)
	}
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": append(data, public...)})
	if err != nil {
		return nil, fmt.Errorf("writing the attestation: %w", err)
	}
	return a.answer(map[string][]byte{"clientDataJSON": a.client("webauthn.create", o.Challenge), "attestationObject": object})
}

// Get signs what the server asks, and returns the browser's answer.
func (a *Authenticator) Get(asked []byte) ([]byte, error) {
	var o options
	if err := json.Unmarshal(asked, &o); err != nil {
		return nil, fmt.Errorf("reading the options: %w", err)
	}
	client, data := a.client("webauthn.get", o.Challenge), a.data(present)
	sum := sha256.Sum256(client)
	signed := sha256.Sum256(append(data[:len(data):len(data)], sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, signed[:])
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return a.answer(map[string][]byte{"clientDataJSON": client, "authenticatorData": data, "signature": signature, "userHandle": a.handle})
}

// data is the authenticator data, and counts.
func (a *Authenticator) data(flags byte) []byte {
	if a.Unlocked {
		flags |= verified
	}
	rp := sha256.Sum256([]byte(a.rp))
	if a.Synced {
		return binary.BigEndian.AppendUint32(append(rp[:], flags), 0)
	}
	data := binary.BigEndian.AppendUint32(append(rp[:], flags), a.Counter)
	a.Counter++
	return data
}

func (a *Authenticator) client(kind, challenge string) []byte {
	b, _ := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": false}) // never fails
	return b
}

func (a *Authenticator) answer(response map[string][]byte) ([]byte, error) {
	texts := map[string]string{}
	for name, b := range response {
		texts[name] = base64.RawURLEncoding.EncodeToString(b)
	}
	id := base64.RawURLEncoding.EncodeToString(a.id)
	return json.Marshal(map[string]any{"id": id, "rawId": id, "type": "public-key", "response": texts,
		"clientExtensionResults": map[string]any{}})
}

func fixed(n *big.Int) []byte { return n.FillBytes(make([]byte, 32)) }
