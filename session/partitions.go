package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// noPartition is what the path of a partition has for NULL.
const noPartition = "__DEFAULT_PARTITION__"

// showPartitions lists the partitions of a table as Flink does, k1=v1/k2=v2, which a job finds in its rows.
func (s *Session) showPartitions(ctx context.Context, x *execution, st *sqlparse.ShowPartitions) (*Result, error) {
	plan, err := planner.Partitions(ctx, st.Table, st.Partition, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	j, err := s.submit(ctx, x, plan, false)
	if err != nil {
		return nil, err
	}
	rows := &Result{Kind: Rows, Schema: plan.Schema, Job: j.ID(), job: j, session: s, x: x}
	var names []string
	var cell []byte
	for {
		batch, err := rows.Next(ctx)
		if err != nil {
			return nil, err
		}
		if batch == nil {
			break
		}
		for i := range batch.Rows() {
			parts := make([]string, len(batch.Cols))
			for k, v := range batch.Cols {
				value := noPartition
				if !v.IsNull(batch.Row(i)) {
					cell = column.AppendText(cell[:0], v, batch.Row(i), time.UTC)
					value = string(cell)
				}
				parts[k] = plan.Schema.Columns[k].Name + "=" + value
			}
			names = append(names, strings.Join(parts, "/"))
		}
	}
	slices.Sort(names)
	return list("partition name", names), nil
}
