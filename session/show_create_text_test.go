package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// Every clause of a table is in its CREATE TABLE, in Flink's order, and can be read again.
func TestCreateTableText(t *testing.T) {
	table := &catalog.CatalogTable{Kind: catalog.KindTable, Comment: "it's"}
	table.Schema.Columns = []types.Column{
		{Name: "id", Type: types.Of(types.BigInt).WithNullable(false)},
		{Name: "at", Type: types.WithPrecision(types.Timestamp, 3), Comment: "when"},
	}
	table.Schema.PrimaryKey = []string{"id"}
	table.Virtual = []catalog.VirtualColumn{
		{Name: "file path", Position: 0, Type: types.String(), Key: "it's"},
		{Name: "size", Position: 2, Type: types.Of(types.BigInt), Key: "size", Stored: true, Comment: "bytes"},
		{Name: "twice", Position: 4, Type: types.Of(types.BigInt), Expr: "`id` * 2"},
	}
	table.Watermark = &catalog.Watermark{Column: "at", Expr: "`at` - INTERVAL '1' SECOND", Type: types.WithPrecision(types.Timestamp, 3)}
	table.PartitionKeys = []string{"id", "at"}
	table.Distribution = &catalog.Distribution{Columns: []string{"id"}, Buckets: 4}
	table.Options = map[string]string{"path": "/x", "connector": "filesystem", "password": "hunter2"}

	id := connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "t`x", Temporary: true}
	text := createTableText(id, table, []connector.Option{{Key: "connector", Public: true}, {Key: "path", Public: true}})
	require.Equal(t, "CREATE TEMPORARY TABLE `c`.`d`.`t``x` (\n"+
		"  `file path` VARCHAR(2147483647) METADATA FROM 'it''s' VIRTUAL,\n"+
		"  `id` BIGINT NOT NULL,\n"+
		"  `size` BIGINT METADATA COMMENT 'bytes',\n"+
		"  `at` TIMESTAMP(3) COMMENT 'when',\n"+
		"  `twice` AS `id` * 2,\n"+
		"  WATERMARK FOR `at` AS `at` - INTERVAL '1' SECOND,\n"+
		"  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED\n"+
		")\n"+
		"COMMENT 'it''s'\n"+
		"DISTRIBUTED BY (`id`) INTO 4 BUCKETS\n"+
		"PARTITIONED BY (`id`, `at`)\n"+
		"WITH (\n  'connector' = 'filesystem',\n  'password' = '****',\n  'path' = '/x'\n)\n", text)
	_, err := sqlparse.Parse(text)
	require.NoError(t, err)
}
