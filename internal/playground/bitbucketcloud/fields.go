package bitbucketcloud

import "strings"

// project leaves of an answer what the query's fields name, as the vendor's
// "partial responses" do: "next,values.id"; "" is all, and so is what only adds
// ("+values.reviewers").
func project(value any, fields string) any {
	if fields == "" || fields[0] == '+' {
		return value
	}
	return keep(value, strings.Split(fields, ","))
}

// keep leaves the members that paths name, through lists.
func keep(value any, paths []string) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = keep(v[i], paths)
		}
		return out
	case map[string]any:
		below := map[string][]string{}
		whole := map[string]bool{}
		for _, path := range paths {
			name, rest, more := strings.Cut(path, ".")
			if more {
				below[name] = append(below[name], rest)
			} else {
				whole[name] = true
			}
		}
		out := map[string]any{}
		for name, member := range v {
			if whole[name] {
				out[name] = member
			} else if len(below[name]) > 0 {
				out[name] = keep(member, below[name])
			}
		}
		return out
	}
	return value
}
