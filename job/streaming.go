package job

import (
	"fmt"

	"github.com/sluice-sql/sluice/hooks"
)

// checkMode checks that what a graph has is what jobs of its mode know.
func (g *Graph) checkMode() error {
	if g.Mode == Batch {
		if g.CheckpointInterval != 0 || g.Create != nil {
			return fmt.Errorf("a batch job has no checkpoints and makes its table itself")
		}
		for i, v := range g.Vertices {
			changes := false
			switch s := v.Spec.(type) {
			case *Aggregate:
				changes = s.Phase == Changelog || s.Retracting || s.EmitBefore
			case *Sink:
				changes = len(s.Upsert) > 0 || s.Changelog
			case *Collect:
				changes = s.Changelog
			}
			if changes {
				return fmt.Errorf("vertex %d (%s) has changes, in a batch job", i, v.Spec.Op())
			}
		}
		return nil
	}
	if g.CheckpointInterval != 0 && g.CheckpointInterval < MinCheckpointInterval {
		return fmt.Errorf("checkpoints every %s; the least is %s", g.CheckpointInterval, MinCheckpointInterval)
	}
	if c := g.Create; c != nil && (c.Catalog < 0 || c.Catalog >= len(g.Catalogs)) {
		return fmt.Errorf("the table to create refers to catalog %d of %d", c.Catalog, len(g.Catalogs))
	}
	for i, h := range g.Hooks {
		if h.Kind != hooks.Insert {
			return fmt.Errorf("hook %d of a streaming job is %q", i, h.Kind)
		}
	}
	for i, v := range g.Vertices {
		if v.Parallelism != 1 {
			return fmt.Errorf("vertex %d of a streaming job has parallelism %d", i, v.Parallelism)
		}
		switch s := v.Spec.(type) {
		case *Scan, *Values, *Filter, *Project, *Unnest, *Limit, *Union, *Collect:
		case *Aggregate:
			if s.Phase != Changelog {
				return fmt.Errorf("vertex %d of a streaming job aggregates in phase %q", i, s.Phase)
			}
		case *Sink:
			for _, c := range s.Upsert {
				if c < 0 || c >= len(v.Out) {
					return fmt.Errorf("vertex %d (%s) has key column %d of %d", i, s.Op(), c, len(v.Out))
				}
			}
			if len(s.Upsert) > 0 && s.Changelog {
				return fmt.Errorf("vertex %d (%s) both replaces rows and takes their changes", i, s.Op())
			}
		default:
			return fmt.Errorf("vertex %d (%s) cannot run in a streaming job", i, v.Spec.Op())
		}
	}
	return nil
}
