package docs_test

// What stands above the options of each connector and format on its page.
const (
	datagenDoc = "Reads rows that are made up, for trying things out and for measuring. Every type there is can be made, nested\n" +
		"ones too; the options of a part have the path to it, `fields.person.name.length`, `fields.list.element.min`,\n" +
		"`fields.map.value.max`. A table has no end unless `number-of-rows` or a sequence gives it one. Random texts are\n" +
		"hexadecimal digits. DATE and TIME are those of the clock, TIMESTAMP and TIMESTAMP_LTZ that or up to `max-past`\n" +
		"before it, in the zone of the job (`table.local-time-zone`; Flink takes UTC for TIMESTAMP). Within one job a table\n" +
		"has the same rows however often it is read; another job makes others. `rows-per-second` holds in batch mode, too:\n" +
		"raise it."
	filesystemDoc = "Reads a file, or all files in and below a directory, once or as they come, and adds files to a directory; how is\n" +
		"on [a page of its own](files.md)."
	jdbcDoc = "Reads and writes one table of a database: `'url' = 'jdbc:sqlite:shop.db'`, `'jdbc:postgresql://host:5432/shop'` or\n" +
		"`'jdbc:mysql://host:3306/shop'`. CREATE TABLE AS makes a server's table together with its rows; in a SQLite file the\n" +
		"table has to be there, without rows. The types are those of [PostgreSQL](postgresql.md), [MySQL and MariaDB](mysql.md)\n" +
		"and [SQLite](sqlite.md). A password need not be written out: `env:NAME` is a variable of the environment, `file:PATH` a\n" +
		"file. What other options of Flink's connector say has no meaning here, and they are refused with the reason."
	printDoc = "Prints the rows that are written, a line each, as Flink does: `+I[1, a]`, with the kind of the row (`+I`, `-U`,\n" +
		"`+U`, `-D`). Values have the forms of Flink's print: `null`, `true`, `2024-07-01T22:30`. What is printed cannot be\n" +
		"taken back when a job fails; a streaming job prints at its checkpoints."
	blackholeDoc = "Takes rows of every kind and keeps none; the job counts them."
)

var formatDoc = map[string]string{
	"csv":  "Comma-separated values, as RFC 4180 describes them. Columns go by position.",
	"json": "A JSON object a row, each on a line of its own. Columns go by name.",
}
