package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"outrigger/internal/audit"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/store"
)

// Imports takes files in and removes what they brought.
type Imports struct {
	Store *store.Source
	// Mirrored says that the hierarchy is mirrored from a database: files of
	// it are refused then.
	Mirrored bool
	// MaxUpload bounds a file as it comes; unpacked it may be maxUnpacked
	// times that.
	MaxUpload int64
}

// maxUnpacked is how much larger than its limit a packed file may become: text
// of this kind packs to a tenth.
const maxUnpacked = 4

// HierarchyImport says what became of a hierarchy file.
type HierarchyImport struct {
	threads.ImportCounts
	threads.HierarchyReading
	Partial    bool     `json:"partial" doc:"The file has some pages of an export and not all of them."`
	Incomplete []string `json:"incomplete,omitempty" doc:"What is wrong with the file, a sentence each; absent where nothing is."`
	Total      int64    `json:"total" doc:"The number stored now."`
}

// MappingImport says what became of a mappings file.
type MappingImport struct {
	threads.ImportCounts
	threads.MappingReading
	CloudSiteURL string   `json:"cloudSiteUrl" doc:"The cloud site that the mappings are for."`
	Incomplete   []string `json:"incomplete,omitempty" doc:"What is wrong with the file, a sentence each; absent where nothing is."`
	Total        int64    `json:"total" doc:"The number stored now."`
}

// Hierarchy takes a hierarchy file in, a slice at a time. What was taken before
// an error stays: the same file again takes the rest.
func (im *Imports) Hierarchy(ctx context.Context, file io.Reader) (out HierarchyImport, err error) {
	if im.Mirrored {
		return out, errMirrored()
	}
	plain, err := format.Open(file, maxUnpacked*im.MaxUpload)
	if err != nil {
		return out, err
	}
	d := format.NewHierarchyDecoder(plain)
	err = inSlices(d.Next, func(records []threads.Record) error {
		n, err := im.Store.MergeRecords(ctx, records)
		out.ImportCounts.Add(n)
		return err
	})
	out.HierarchyReading = d.Reading()
	out.Partial, out.Incomplete = out.HierarchyReading.Partial(out.Records), out.Damage(out.Records)
	if err := errors.Join(err, im.record(ctx, "import", "hierarchy", "", out.ImportCounts)); err != nil {
		return out, err
	}
	st, err := im.Store.State(ctx)
	out.Total = st.Records
	return out, err
}

func errMirrored() error {
	return fault.New(fault.Conflict, "The hierarchy is mirrored from the database that threads.sql names, so it is changed there.")
}

// Mappings takes a mappings file of a cloud site in, as Hierarchy does.
func (im *Imports) Mappings(ctx context.Context, cloudSite string, file io.Reader) (out MappingImport, err error) {
	siteURL, ok := threads.SiteURL(cloudSite)
	if !ok {
		return out, threads.ErrSiteURL()
	}
	out.CloudSiteURL = siteURL
	plain, err := format.Open(file, maxUnpacked*im.MaxUpload)
	if err != nil {
		return out, err
	}
	d := format.NewMappingDecoder(plain)
	var unfit int64
	next := func() (threads.IDMapping, error) {
		for {
			m, err := d.Next()
			if err != nil || !strings.ContainsAny(m.EntityType, ",\"\r\n") {
				return m, err
			}
			unfit++ // the report has no quotes
		}
	}
	err = inSlices(next, func(mappings []threads.IDMapping) error {
		n, err := im.Store.MergeMappings(ctx, siteURL, mappings)
		out.ImportCounts.Add(n)
		return err
	})
	out.MappingReading = d.Reading()
	out.Unreadable += unfit
	out.Incomplete = out.Damage()
	if err := errors.Join(err, im.record(ctx, "import", "mappings", siteURL, out.ImportCounts)); err != nil {
		return out, err
	}
	out.Total, err = im.Store.MappingsOf(ctx, siteURL)
	return out, err
}

// inSlices returns what next gives to merge, a slice at a time.
func inSlices[T any](next func() (T, error), merge func([]T) error) error {
	slice := make([]T, 0, store.SourceSlice)
	for {
		item, err := next()
		if err == nil {
			slice = append(slice, item)
		}
		if len(slice) == store.SourceSlice || err != nil && len(slice) > 0 {
			if err := merge(slice); err != nil {
				return err
			}
			slice = slice[:0]
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// Clear removes the hierarchy.
func (im *Imports) Clear(ctx context.Context) error {
	if im.Mirrored {
		return errMirrored()
	}
	n, err := im.Store.Clear(ctx)
	return errors.Join(err, im.record(ctx, "delete", "hierarchy", "", threads.ImportCounts{Removed: n}))
}

// Forget removes the mappings of a cloud site.
func (im *Imports) Forget(ctx context.Context, cloudSite string) error {
	siteURL, ok := threads.SiteURL(cloudSite)
	if !ok {
		return threads.ErrSiteURL()
	}
	n, err := im.Store.Forget(ctx, siteURL)
	return errors.Join(err, im.record(ctx, "delete", "mappings", siteURL, threads.ImportCounts{Removed: n}))
}

// record notes in the audit trail what was changed, also where an error ended
// it or the client is gone.
func (im *Imports) record(ctx context.Context, action, object, id string, n threads.ImportCounts) error {
	after := map[string]string{}
	for name, count := range map[string]int64{"added": n.Added, "replaced": n.Replaced, "removed": n.Removed} {
		if count > 0 {
			after[name] = strconv.FormatInt(count, 10)
		}
	}
	if len(after) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	err := im.Store.Record(ctx, identity.WithActor(ctx, audit.Entry{
		Area: "threads", Action: action, Object: object, ObjectID: id, After: after,
	}))
	if err != nil {
		return fmt.Errorf("audit trail: %w", err)
	}
	return nil
}
