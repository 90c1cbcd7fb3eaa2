package planner_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
)

// Views that read one another to no end are errors, however they came about.
func TestViewsWithoutEnd(t *testing.T) {
	s := limitsSession(t)
	create := func(sql string) { s.create(t, sql, s.env(sql)) }
	fault := func(sql string) string {
		_, err := plan(sql, s.env(sql))
		require.Error(t, err)
		return err.Error()
	}

	create("CREATE VIEW v0 AS SELECT id FROM t")
	for i := range 99 {
		create(fmt.Sprintf("CREATE VIEW v%d AS SELECT id FROM v%d", i+1, i))
	}
	planAndEncode(t, s, "SELECT id FROM v99")
	require.Contains(t, fault("CREATE VIEW v100 AS SELECT id FROM v99"), "is the end of a chain of more than 100 views that read one another")

	// A view that is read twice by the next one is planned twice as often.
	create("CREATE VIEW w0 AS SELECT id FROM t")
	from, to := "w0", 0
	for to < 11 {
		to++
		create(fmt.Sprintf("CREATE VIEW w%d AS SELECT x.id FROM %s x, %s y", to, from, from))
		from = fmt.Sprintf("w%d", to)
	}
	require.Contains(t, fault("SELECT x.id FROM w11 x, w11 y, w11 z"), "are used more than 10000 times")

	// RENAME closes a circle that neither CREATE nor ALTER lets through.
	create("CREATE TABLE base (a INT)")
	create("CREATE VIEW round1 AS SELECT a FROM base")
	create("CREATE VIEW round2 AS SELECT a FROM round1")
	c, _ := s.manager.Live(catalog.DefaultCatalog)
	path := func(name string) catalog.ObjectPath {
		return catalog.ObjectPath{Database: catalog.DefaultDatabase, Object: name}
	}
	last, err := c.Table(context.Background(), path("round2"))
	require.NoError(t, err)
	require.NoError(t, c.DropTable(context.Background(), path("base"), ""))
	_, _, err = c.CreateTable(context.Background(), path("base"), last)
	require.NoError(t, err)
	require.Contains(t, fault("SELECT * FROM round1"), "reads itself")
}
