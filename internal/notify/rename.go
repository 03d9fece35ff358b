package notify

// rename is a repository or project that goes by other keys from now on. A
// zero repository stands for the project with all that is in it.
type rename struct {
	connection string
	from, to   RepositoryRef
}

// renamed tells whether an event says that keys changed, and which.
func (e *Event) renamed() (rename, bool) {
	types := e.TypeSet()
	r := rename{connection: e.Connection}
	r.to.ProjectKey = e.Project.Key
	switch {
	case types.Has(RepositoryFieldEdited), types.Has(RepositoryTransferred):
		r.to.RepositoryKey = e.Repository.Key
	case !types.Has(ProjectFieldEdited):
		return r, false
	}
	r.from = r.to
	for _, c := range e.Changes {
		switch {
		case c.Old == "" || c.New == "":
		case c.Field == "key":
			r.from.ProjectKey = c.Old
		case c.Field == "slug" && r.to.RepositoryKey != "":
			r.from.RepositoryKey = c.Old
		}
	}
	return r, Fold(r.from.ProjectKey) != Fold(r.to.ProjectKey) || Fold(r.from.RepositoryKey) != Fold(r.to.RepositoryKey)
}

// renames tells whether an event of the webhook says that keys changed.
func (r *Receipt) renames() bool {
	for i := range r.Events {
		if _, ok := r.Events[i].renamed(); ok {
			return true
		}
	}
	return false
}

// ref gives the new keys of a reference, and whether they are new.
func (r *rename) ref(ref RepositoryRef) (RepositoryRef, bool) {
	switch {
	case Fold(ref.ProjectKey) != Fold(r.from.ProjectKey):
		return ref, false
	case r.to.RepositoryKey == "": // the whole project
		return RepositoryRef{ProjectKey: r.to.ProjectKey, RepositoryKey: ref.RepositoryKey}, true
	case Fold(ref.RepositoryKey) != Fold(r.from.RepositoryKey):
		return ref, false
	}
	return r.to, true
}

// apply moves the keys of a rule and of its filter, and tells whether any did.
// A project's rule does not follow a repository that leaves it.
func (r *rename) apply(rule *Rule) bool {
	changed := false
	if rule.Connection != r.connection {
		return false
	}
	own := RepositoryRef{ProjectKey: rule.ProjectKey, RepositoryKey: rule.RepositoryKey}
	if now, ok := r.ref(own); ok && own.ProjectKey != "" {
		rule.ProjectKey, rule.RepositoryKey, changed = now.ProjectKey, now.RepositoryKey, true
	}
	for i, ref := range rule.Repositories {
		if now, ok := r.ref(ref); ok && (rule.ProjectKey == "" || Fold(now.ProjectKey) == Fold(rule.ProjectKey)) {
			rule.Repositories[i], changed = now, true
		}
	}
	for i, key := range rule.Projects {
		if r.to.RepositoryKey == "" && Fold(key) == Fold(r.from.ProjectKey) {
			rule.Projects[i], changed = r.to.ProjectKey, true
		}
	}
	return changed
}
