package staging

import (
	"fmt"

	"outrigger/internal/threads"
)

// chunksAtOnce is how many chunks are written in one transaction, of about
// 15 KiB each.
const chunksAtOnce = 32

// chunker cuts issues into chunks and writes them.
type chunker struct {
	stage *stage
	chunk threads.Chunk    // the one that is being filled
	full  []*threads.Chunk // those that wait to be written
}

func (c *chunker) add(i threads.IssueEntries) error {
	c.chunk.Add(i)
	if c.chunk.Records < c.stage.ChunkSize {
		return nil
	}
	return c.next()
}

// next begins another chunk.
func (c *chunker) next() error {
	done := c.chunk
	c.full = append(c.full, &done)
	c.chunk = threads.Chunk{Number: done.Number + 1}
	if len(c.full) < chunksAtOnce {
		return nil
	}
	return c.write()
}

func (c *chunker) write() error {
	if len(c.full) == 0 {
		return nil
	}
	if err := c.stage.Store.WriteChunks(c.stage.ctx, c.full); err != nil {
		return fmt.Errorf("keeping chunks: %w", err)
	}
	c.full = c.full[:0]
	return nil
}

func (c *chunker) finish() error {
	if c.chunk.Records > 0 {
		if err := c.next(); err != nil {
			return err
		}
	}
	return c.write()
}
