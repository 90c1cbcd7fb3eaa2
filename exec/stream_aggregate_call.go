package exec

import "github.com/sluice-sql/sluice/column"

// change lets the accumulator take the rows of a batch, or with retract gives them back to it; counted says
// that rows go at all, so that a DISTINCT call has to count them.
func (c *aggCall) change(shared []*column.Vector, b *column.Batch, groups []uint32, counted, retract bool) error {
	if !counted {
		return c.update(shared, b, groups)
	}
	sel, groups, any, err := c.arguments(shared, b, groups)
	if err != nil || !any {
		return err
	}
	if c.seen != nil {
		if sel, groups, err = c.cross(sel, b.N, groups, retract); err != nil || len(sel) == 0 {
			return err
		}
	}
	if retract {
		return c.failed(c.acc.Retract(groups, c.cols, sel, b.N))
	}
	return c.failed(c.acc.Update(groups, c.cols, sel, b.N))
}

// cross counts the rows' values and leaves the rows that are the first of a value; with retract it counts them
// back and leaves those that were the last.
func (c *aggCall) cross(sel []uint16, n int, groups []uint32, retract bool) ([]uint16, []uint32, error) {
	numbers, err := c.look(sel, n, groups)
	if err != nil {
		return nil, nil, err
	}
	more := c.seen.groups() - len(c.counts)
	c.counts = growTo(c.counts, c.seen.groups())
	c.forgotten += more
	var rows []uint16
	left := numbers[:0]
	for k, id := range numbers {
		before := c.counts[id]
		after := before + 1
		if retract {
			after = before - 1
		}
		c.counts[id] = after
		switch {
		case before == 0:
			c.forgotten--
		case after == 0:
			c.forgotten++
		}
		if !retract && before == 0 || retract && after == 0 {
			rows = append(rows, uint16(rowAt(sel, k)))
			if groups != nil {
				left = append(left, groups[k]) // never ahead of k
			}
		}
	}
	if groups == nil {
		return rows, nil, nil
	}
	return rows, left, nil
}

// compact makes the state anew, of the groups that have a number, of which there are total.
func (c *aggCall) compact(number []uint32, total int, grow func(int64) error) error {
	if err := c.compactState(number, total); err != nil {
		return err
	}
	if c.seen == nil {
		return nil
	}
	return c.compactSeen(number, grow)
}

func (c *aggCall) compactState(number []uint32, total int) error {
	old := c.acc
	c.acc = c.call.NewAccumulator(true)
	c.acc.Grow(total)
	part := column.NewBatch(c.states, 0)
	var groups []uint32
	move := func() error {
		err := c.acc.Merge(groups, part.Cols, len(groups))
		part.Reset()
		groups = groups[:0]
		return c.failed(err)
	}
	for g, to := range number {
		if to == noRow {
			continue
		}
		if err := old.State(part.Cols, g, g+1); err != nil {
			return c.failed(err)
		}
		groups = append(groups, to)
		if len(groups) == column.DefaultRows || len(groups)%64 == 0 && part.Size() > maxBytes {
			if err := move(); err != nil {
				return err
			}
		}
	}
	return move()
}

func (c *aggCall) compactSeen(number []uint32, grow func(int64) error) error {
	old, counts := c.seen, c.counts
	c.remember(grow)
	c.counts, c.forgotten = nil, 0
	found := make([]uint32, column.DefaultRows)
	part := column.NewBatch(old.keys.types, 0)
	var kept []int64
	move := func() error {
		n := part.N
		if err := c.seen.find(part.Cols, nil, n, found[:n]); err != nil {
			return err
		}
		c.counts = append(c.counts, kept...)
		kept = kept[:0]
		part.Reset()
		return nil
	}
	for id, n := range counts {
		chunk, at := old.keys.chunks[id>>chunkBits], id&chunkMask
		to := number[chunk[0].I32[at]]
		if n == 0 || to == noRow {
			continue
		}
		part.Cols[0].AppendI64(int64(to))
		for k, v := range chunk[1:] {
			part.Cols[k+1].AppendFrom(v, at)
		}
		part.N++
		kept = append(kept, n)
		if part.N == column.DefaultRows || part.N%64 == 0 && part.Size() > maxBytes {
			if err := move(); err != nil {
				return err
			}
		}
	}
	return move()
}
