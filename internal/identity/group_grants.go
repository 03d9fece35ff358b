package identity

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// judgeGroup says what is wrong with the name of a group; "": nothing. Names are
// the provider's, whatever letters they have, but they stand in addresses and
// in keys of the database, which PostgreSQL limits to 2,704 bytes.
func judgeGroup(name string) string {
	switch {
	case name == "":
		return "Enter the name of a group as the provider writes it."
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Sprintf("Use at most %d characters; longer group names are not kept.", maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "A group name must not contain line breaks or other control characters."
	case strings.TrimSpace(name) != name:
		return "A group name must not begin or end with a space."
	case name == "." || name == "..":
		return "The names . and .. cannot be used; they mean something else in addresses."
	}
	return ""
}

// JudgeGroupGrant says what is wrong with a permission at a place for a group.
func JudgeGroupGrant(group string, perm Permission, at Resource) error {
	var wrong fault.Fields
	if message := judgeGroup(group); message != "" {
		wrong.Add("group", "%s", message)
	}
	if perm == SysAdmin {
		wrong.Add("permission", "SYS_ADMIN is granted to users only; give ADMIN, PROJECT_ADMIN or REPO_ADMIN.")
		return wrong.Err()
	}
	if err := wrong.Join(JudgeGrant(perm, at)); err != nil {
		return err
	}
	return wrong.Err()
}

// GrantGroup grants a permission to all members of a group, known or not.
// Conflict: the group has it already.
func (s *Service) GrantGroup(ctx context.Context, group string, perm Permission, at Resource) (Grant, error) {
	if err := JudgeGroupGrant(group, perm, at); err != nil {
		return Grant{}, err
	}
	return s.grant(ctx, group, granteeGroup, Grant{Permission: perm, Resource: at})
}

// RevokeGroup takes a grant back from a group.
func (s *Service) RevokeGroup(ctx context.Context, group string, id int64) error {
	return s.revoke(ctx, group, granteeGroup, id)
}

func granteeGroup(ctx context.Context, tx *db.Tx, group string) (grantee, error) {
	grants, err := grantsOfGroup(ctx, tx, group)
	return grantee{holder{group: group}, "group", group, group, grants}, err
}

// grantsOfGroup lists the grants of a group, the oldest first.
func grantsOfGroup(ctx context.Context, tx *db.Tx, group string) ([]Grant, error) {
	if judgeGroup(group) != "" { // which PostgreSQL may not be asked for
		return nil, nil
	}
	grants, err := grantsWhere(ctx, tx, `user_id IS NULL AND group_name = $1`, group)
	return grants[holder{group: group}], err
}
