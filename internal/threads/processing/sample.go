package processing

import (
	"context"

	"outrigger/internal/threads"
)

// sample returns up to maxRefused cloud issues that have something to write,
// spread over the data, besides some. Those that the target is known to
// refuse are not among them.
func (p *Processor) sample(ctx context.Context, from data, besides map[int64]bool) ([]int64, error) {
	places := min(from.chunks, maxRefused)
	var issues []int64
	for n := range places {
		at := n
		if from.chunks > maxRefused {
			at = n * (from.chunks - 1) / (maxRefused - 1)
		}
		list, err := p.Store.Chunks(ctx, from.stage, at, 1)
		if err != nil {
			return nil, err
		}
		// What the places before had too little of comes on top.
		want := ((n+1)*maxRefused+places-1)/places - int64(len(issues))
		for _, c := range list {
			issues = append(issues, spread(c, int(want), besides)...)
		}
	}
	return issues[:min(len(issues), maxRefused)], nil
}

// spread returns up to n issues of a chunk.
func spread(c *threads.Chunk, n int, besides map[int64]bool) []int64 {
	var all []int64
	for _, i := range c.Issues {
		if i.CloudIssueID != 0 && !besides[i.CloudIssueID] && len(i.Relations()) > 0 {
			all = append(all, i.CloudIssueID)
		}
	}
	if len(all) <= n {
		return all
	}
	picked := make([]int64, n)
	for k := range picked {
		picked[k] = all[k*(len(all)-1)/max(n-1, 1)]
	}
	return picked
}
