package job

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// Sink writes its input through the transaction of a hook.
type Sink struct {
	Hook  int                        `json:"hook"` // position in Graph.Hooks
	Table connector.ObjectIdentifier `json:"table"`
	// NotNull are the input columns whose NULL fails the job, with table, column and row.
	NotNull []int    `json:"notNull,omitempty"`
	Names   []string `json:"names"` // the target columns, for errors
	// Key names, for errors, the columns of the input, the first, that tell which row of the table is changed, in
	// UPDATE and DELETE; a name is empty where it means nothing to a user.
	Key []string `json:"key,omitempty"`
	// Upsert are the columns of the input that are the key by which rows replace each other and are
	// deleted, in streaming jobs whose rows change (connector.Upserter); empty: rows are only added.
	Upsert []int `json:"upsert,omitempty"`
	// Changelog says that the table takes the changes as they are (connector.ChangelogWritable), in
	// streaming jobs.
	Changelog bool `json:"changelog,omitempty"`
}

// Op returns "sink".
func (*Sink) Op() string { return "sink" }

// Describe returns the table.
func (s *Sink) Describe() string {
	d := fmt.Sprintf("Sink %s", s.Table)
	switch {
	case len(s.Upsert) > 0:
		key := make([]string, len(s.Upsert))
		for i, c := range s.Upsert {
			key[i] = fmt.Sprintf("$%d", c)
			if c < len(s.Names) {
				key[i] = s.Names[c]
			}
		}
		d += fmt.Sprintf(" upsert=[%s]", strings.Join(key, ", "))
	case s.Changelog:
		d += " changelog"
	}
	return d
}

// Collect hands its input to whoever started the job: the rows of a SELECT. Changelog says that their kinds
// count: the rows of a streaming SELECT.
type Collect struct {
	Changelog bool `json:"changelog,omitempty"`
}

// Op returns "collect".
func (*Collect) Op() string { return "collect" }

// Describe returns the name.
func (*Collect) Describe() string { return "Collect" }
