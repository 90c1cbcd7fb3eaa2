package session

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// explain prints the plans of a statement, and for one that writes what its target would be: the
// target's own DDL, how each column is stored, and what the write guarantees. It creates nothing.
func (s *Session) explain(ctx context.Context, x *execution, st *sqlparse.Explain) (*Result, error) {
	withChangelog, withJSON := false, false
	for _, d := range st.Details {
		switch d.Name {
		case "CHANGELOG_MODE":
			withChangelog = true
		case "JSON_EXECUTION_PLAN":
			withJSON = true
		case "ESTIMATED_COST":
			return nil, &sqlparse.Error{Span: d.Span(), Msg: "EXPLAIN ESTIMATED_COST is not supported yet", Hint: "plans are chosen by rules and by the sizes of tables, not by costs that could be shown"}
		default:
			return nil, refuse(d.Span(), "EXPLAIN %s is not supported yet", d.Name)
		}
	}
	var plan *planner.Plan
	var err error
	switch inner := st.Statement.(type) {
	case *sqlparse.QueryStatement:
		plan, err = planner.Query(ctx, inner.Query, s.plannerEnv(x))
	case *sqlparse.Insert:
		plan, err = planner.Insert(ctx, inner, s.plannerEnv(x))
	case *sqlparse.Update:
		plan, err = planner.Update(ctx, inner, s.plannerEnv(x))
	case *sqlparse.Delete:
		plan, err = planner.Delete(ctx, inner, s.plannerEnv(x))
	case *sqlparse.CreateTable:
		plan, err = planner.CreateTableAs(ctx, inner, s.plannerEnv(x))
	case *sqlparse.StatementSet:
		return nil, refuse(st.Statement.Span(), "%s", statementSetRefusal)
	default:
		return nil, refuse(st.Statement.Span(), "EXPLAIN is for queries, INSERT, UPDATE, DELETE and CREATE TABLE AS")
	}
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if plan.Exists {
		fmt.Fprintf(&b, "Table %s exists: IF NOT EXISTS leaves it alone and runs no job.\n", plan.Target)
		return one("result", b.String()), nil
	}
	plan.Changelog = withChangelog
	b.WriteString(plan.Explain())
	if withJSON {
		g, err := plan.Graph()
		if err != nil {
			return nil, err
		}
		text, err := executionJSON(g)
		if err != nil {
			return nil, err
		}
		b.WriteString("\n== Physical Execution Plan ==\n" + text)
	}
	if plan.Check != nil {
		explainTarget(&b, plan)
	} else {
		explainResult(&b, plan)
	}
	return one("result", s.scrub(x, b.String())), nil
}

// section begins a part of what EXPLAIN prints, after a blank line.
func section(b *strings.Builder, title string) {
	switch text := b.String(); {
	case text == "" || strings.HasSuffix(text, "\n\n"):
	case strings.HasSuffix(text, "\n"):
		b.WriteString("\n")
	default:
		b.WriteString("\n\n")
	}
	fmt.Fprintf(b, "== %s ==\n", title)
}

// explainResult prints the columns of a query.
func explainResult(b *strings.Builder, plan *planner.Plan) {
	section(b, "Result")
	width := 0
	for _, c := range plan.Schema.Columns {
		width = max(width, utf8.RuneCountInString(c.Name))
	}
	for _, c := range plan.Schema.Columns {
		fmt.Fprintf(b, "%-*s  %s\n", width, c.Name, c.Type)
	}
}

// explainTarget prints what a write would make of its target.
func explainTarget(b *strings.Builder, plan *planner.Plan) {
	c := plan.Check
	section(b, "Target")
	fmt.Fprintf(b, "%s\n", plan.Target.SQL())
	if c.DDL != "" {
		fmt.Fprintf(b, "%s\n", strings.TrimRight(c.DDL, "\n"))
	}
	if len(c.Mapping) > 0 {
		section(b, "Type Mapping")
		name, typ := 0, 0
		for _, m := range c.Mapping {
			name, typ = max(name, utf8.RuneCountInString(m.Column)), max(typ, utf8.RuneCountInString(m.Type))
		}
		for _, m := range c.Mapping {
			fmt.Fprintf(b, "%-*s  %-*s  %s\n", name, m.Column, typ, m.Type, m.Stored)
		}
	}
	section(b, "Guarantee")
	if plan.Mode() == job.Streaming {
		fmt.Fprintf(b, "PER CHECKPOINT: what is written is committed and visible from checkpoint to checkpoint; a failure takes back what came after the last, and no more\n")
	} else if c.Guarantee == "" { // one connector.Transaction, whatever the store
		fmt.Fprintf(b, "%s: the rows are committed by one transaction of the table's store\n", catalog.Atomic)
	} else {
		fmt.Fprintf(b, "%s: %s\n", c.Guarantee, c.Reason)
	}
	for _, n := range c.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
}
