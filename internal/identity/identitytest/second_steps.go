package identitytest

import (
	"context"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// AskedFactors: no sign-in waits.
func (Users) AskedFactors(context.Context, string) (identity.Factors, error) {
	return identity.Factors{}, identity.ErrUnauthenticated()
}

// BeginPasskey: no sign-in waits.
func (Users) BeginPasskey(context.Context, string) (identity.Ceremony, error) {
	return identity.Ceremony{}, identity.ErrUnauthenticated()
}

// SecondStep: no sign-in waits.
func (Users) SecondStep(context.Context, string, identity.Proof, string) (string, *identity.Principal, error) {
	return "", nil, identity.ErrUnauthenticated()
}

// BeginPasskeySignIn: there are no passkeys.
func (Users) BeginPasskeySignIn(context.Context, string) (identity.Ceremony, error) {
	return identity.Ceremony{}, identity.ErrUnauthenticated()
}

// PasskeySignIn: there are no passkeys.
func (Users) PasskeySignIn(context.Context, string, []byte, string) (string, *identity.Principal, error) {
	return "", nil, identity.ErrUnauthenticated()
}

// Confirm confirms whatever is shown.
func (Users) Confirm(context.Context, identity.Proof, string) error { return nil }

// UseConfirmCode: there are no codes.
func (Users) UseConfirmCode(context.Context, secret.Value, string) error {
	return identity.ErrUnauthenticated()
}

// RequireConfirmed: they always have.
func (Users) RequireConfirmed(context.Context) error { return nil }

// BeginConfirm: there are no passkeys.
func (Users) BeginConfirm(context.Context) (identity.Ceremony, error) {
	return identity.Ceremony{}, identity.ErrUnauthenticated()
}

// Factors: none.
func (Users) Factors(context.Context) (identity.Factors, error) {
	return identity.Factors{}, nil
}

// NoPasskeys says that there are none.
func (Users) NoPasskeys() string { return "There are no passkeys here." }
