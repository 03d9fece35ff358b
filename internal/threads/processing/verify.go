package processing

import (
	"context"
	"maps"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// verify compares the target with the data that is loaded.
func (p *Processor) verify(ctx context.Context, lease *db.Lease, j threads.Job) error {
	v := &verifying{running: running{p, lease, j}}
	if err := j.Read(&v.detail); err != nil {
		return err
	}
	v.at, v.place = v.detail.Chunk, v.detail.Place
	err := v.run(ctx)
	if !isFinal(ctx, err) {
		return err
	}
	p.Log.Error("the target could not be compared with the data", "error", err)
	return v.end(ctx, threads.JobFailed, "The database refused; the reason is in the server's log.")
}

// verifying is a comparison that goes on, and its feed where a target is asked
// about one issue at a time.
type verifying struct {
	running
	detail threads.VerifyJob // as it is stored
	names  *names            // nil where the target knows none

	chunk *threads.Chunk // the one that is being given
	place int            // the next issue of it
	at    int64          // the next chunk
}

func (v *verifying) run(ctx context.Context) error {
	if v.p.Target == nil {
		return v.chunkwise(ctx)
	}
	v.names = v.p.newNames()
	verdict, message, err := v.p.drive(ctx, v, &data{v.detail.Stage, v.detail.Chunks}, v.detail.Pace)
	switch {
	case err != nil:
		return err
	case verdict == finished:
		return v.end(ctx, threads.JobDone, "")
	}
	return v.end(ctx, threads.JobFailed, message)
}

func (v *verifying) end(ctx context.Context, state, message string) error {
	v.job.State, v.job.Message = state, message
	return v.p.retry(ctx, "end the comparison", func(ctx context.Context) error {
		return v.p.Store.CommitJob(ctx, v.lease, v.job, v.detail, threads.JobWritten{})
	})
}

// chunkwise compares with the maps in the database.
func (v *verifying) chunkwise(ctx context.Context) error {
	for {
		var after threads.VerifyJob
		err := v.p.retry(ctx, "compare a chunk", func(ctx context.Context) error {
			chunks, err := v.p.Store.Chunks(ctx, v.detail.Stage, v.detail.Chunk, maxSlice)
			if err != nil {
				return err
			}
			after = v.detail
			for _, c := range chunks {
				if err := v.compare(ctx, c, &after); err != nil {
					return err
				}
			}
			if len(chunks) == 0 {
				v.job.State = threads.JobDone
			}
			return v.p.Store.CommitJob(ctx, v.lease, v.job, after, threads.JobWritten{})
		})
		if err != nil || v.job.State == threads.JobDone {
			return err
		}
		v.detail = after
		v.p.beat()
	}
}

func (v *verifying) compare(ctx context.Context, c *threads.Chunk, into *threads.VerifyJob) error {
	var ids []int64
	for _, i := range c.Issues {
		if i.CloudIssueID != 0 {
			ids = append(ids, i.CloudIssueID)
		}
	}
	found, err := v.p.Store.Maps(ctx, ids)
	if err != nil {
		return err
	}
	for _, i := range c.Issues {
		into.Compare(i, "", found[i.CloudIssueID])
	}
	into.Chunk = c.Number + 1
	return nil
}

func (v *verifying) next(ctx context.Context) (*task, error) {
	if v.chunk != nil && v.place == len(v.chunk.Issues) {
		v.chunk, v.place = nil, 0
	}
	if v.chunk == nil {
		var err error
		if v.chunk, err = v.p.chunk(ctx, v.detail.Stage, v.at); err != nil || v.chunk == nil {
			return nil, err
		}
		v.at++
		if err := v.names.learn(ctx, v.chunk); err != nil {
			return nil, err
		}
	}
	i := v.chunk.Issues[v.place]
	t := &task{issue: i.CloudIssueID, chunk: v.chunk, place: v.place, name: v.names.of(i)}
	v.place++
	if len(i.Wanted()) > 0 {
		t.ask = func(ctx context.Context) (threads.ParentMap, error) { return v.p.Target.Read(ctx, i.CloudIssueID) }
	}
	return t, nil
}

// keep counts issues as compared.
func (v *verifying) keep(ctx context.Context, tasks []*task, _ []threads.IssueMap, _ int64, pace threads.Pace) error {
	after := v.detail
	after.Pace = pace
	if after.Projects = maps.Clone(after.Projects); after.Projects == nil {
		after.Projects = threads.ProjectCounts{}
	}
	for _, t := range tasks {
		i := t.chunk.Issues[t.place]
		if t.failed && t.refused != threads.TargetMissing {
			after.Skip(i, t.name.Key)
		} else {
			after.Compare(i, t.name.Key, t.parents) // of an issue that is not there everything is missing
		}
		if v.names != nil {
			after.Projects.Add(i, t.name.Project)
		}
		if after.Chunk, after.Place = t.chunk.Number, t.place+1; after.Place == len(t.chunk.Issues) {
			after.Chunk, after.Place = after.Chunk+1, 0
		}
	}
	err := v.p.Store.CommitJob(ctx, v.lease, v.job, after, threads.JobWritten{})
	if err == nil {
		v.detail = after
	}
	return err
}

func (v *verifying) about() []any {
	return []any{"work", "verify", "data", v.detail.Stage, "chunks", v.detail.Chunk, "of", v.detail.Chunks}
}
