package notify

// KeyChange is a repository or project that has new keys. A
// zero repository stands for the project with all that is in it.
type KeyChange struct {
	Connection string
	From, To   RepositoryRef
}

// KeyChange reports whether an event says that keys changed, and which.
func (e *Event) KeyChange() (KeyChange, bool) {
	types := e.TypeSet()
	r := KeyChange{Connection: e.Connection}
	r.To.ProjectKey = e.Project.Key
	switch {
	case types.Has(RepositoryFieldEdited), types.Has(RepositoryTransferred):
		r.To.RepositoryKey = e.Repository.Key
	case !types.Has(ProjectFieldEdited):
		return r, false
	}
	r.From = r.To
	for _, c := range e.Changes {
		switch {
		case c.Old == "" || c.New == "":
		case c.Field == "key", c.Field == "workspace": // which stands for the project in the cloud edition
			r.From.ProjectKey = c.Old
		case c.Field == "slug" && r.To.RepositoryKey != "":
			r.From.RepositoryKey = c.Old
		}
	}
	return r, Fold(r.From.ProjectKey) != Fold(r.To.ProjectKey) || Fold(r.From.RepositoryKey) != Fold(r.To.RepositoryKey)
}

// Ref returns the new keys of a reference, and whether they are new.
func (r *KeyChange) Ref(ref RepositoryRef) (RepositoryRef, bool) {
	switch {
	case Fold(ref.ProjectKey) != Fold(r.From.ProjectKey):
		return ref, false
	case r.To.RepositoryKey == "": // the whole project
		return RepositoryRef{ProjectKey: r.To.ProjectKey, RepositoryKey: ref.RepositoryKey}, true
	case Fold(ref.RepositoryKey) != Fold(r.From.RepositoryKey):
		return ref, false
	}
	return r.To, true
}

// Apply moves the keys of a rule and of its filter, and reports whether any did.
// A project's rule does not follow a repository that leaves it.
func (r *KeyChange) Apply(rule *Rule) bool {
	changed := false
	if rule.Connection != r.Connection {
		return false
	}
	if now, ok := r.Ref(rule.At()); ok && rule.ProjectKey != "" {
		rule.ProjectKey, rule.RepositoryKey, changed = now.ProjectKey, now.RepositoryKey, true
	}
	for i, ref := range rule.Repositories {
		if now, ok := r.Ref(ref); ok && (rule.ProjectKey == "" || Fold(now.ProjectKey) == Fold(rule.ProjectKey)) {
			rule.Repositories[i], changed = now, true
		}
	}
	for i, key := range rule.Projects {
		if r.To.RepositoryKey == "" && Fold(key) == Fold(r.From.ProjectKey) {
			rule.Projects[i], changed = r.To.ProjectKey, true
		}
	}
	return changed
}

// ApplyReport moves the keys of a report, and reports whether it did.
func (r *KeyChange) ApplyReport(report *Report) bool {
	to, moves := r.Ref(report.At())
	if !moves || report.Connection != r.Connection {
		return false
	}
	report.ProjectKey, report.RepositoryKey = to.ProjectKey, to.RepositoryKey
	return true
}
