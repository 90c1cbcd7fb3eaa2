package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"

	_ "github.com/mattn/go-sqlite3" // writes the bench's source files
)

// The bench's rows have the shape of TPC-H's lineitem: 4 INTEGER, 4 REAL and 8 TEXT columns, no NULL.
// They come from a fixed seed.
const (
	itemColumns = "l_orderkey INTEGER, l_partkey INTEGER, l_suppkey INTEGER, l_linenumber INTEGER, " +
		"l_quantity REAL, l_extendedprice REAL, l_discount REAL, l_tax REAL, " +
		"l_returnflag TEXT, l_linestatus TEXT, l_shipdate TEXT, l_commitdate TEXT, l_receiptdate TEXT, " +
		"l_shipinstruct TEXT, l_shipmode TEXT, l_comment TEXT"
	// typedColumns has what needs decoding and encoding on the way: exact decimals and timestamps.
	typedColumns = "id BIGINT, price DECIMAL(12,2), tax DECIMAL(12,2), " +
		"ordered TIMESTAMP(6), shipped TIMESTAMP(6), received TIMESTAMP(6), note TEXT"
)

var (
	instructions = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	modes        = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	words        = strings.Fields("amber brisk calm dusty early faint gentle heavy idle jolly keen lucid mild neat odd plain quiet rapid steady tidy")
)

func date(day int) string {
	// Days are counted in a calendar of twelve 28-day months from 1992: valid dates, and cheap.
	return fmt.Sprintf("%04d-%02d-%02d", 1992+day/336, day%336/28+1, day%28+1)
}

// item returns row i of table l.
func item(r *rand.Rand, i int) []any {
	quantity := float64(r.IntN(50) + 1)
	day := r.IntN(2200)
	flag, status := "N", "O"
	if day < 1100 {
		flag, status = []string{"A", "R"}[r.IntN(2)], "F"
	}
	comment := make([]string, 3+r.IntN(2))
	for k := range comment {
		comment[k] = words[r.IntN(len(words))]
	}
	return []any{i/4 + 1, r.IntN(1_000_000) + 1, r.IntN(50_000) + 1, i%4 + 1,
		quantity, quantity * float64(90_000+r.IntN(20_000)) / 100, float64(r.IntN(11)) / 100, float64(r.IntN(9)) / 100,
		flag, status, date(day), date(day + 30), date(day + r.IntN(30)),
		instructions[r.IntN(4)], modes[r.IntN(7)], strings.Join(comment, " ")}
}

// typedItem returns row i of table typed.
func typedItem(r *rand.Rand, i int) []any {
	at := func() string {
		return fmt.Sprintf("%s %02d:%02d:%02d.%06d", date(r.IntN(2200)), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1_000_000))
	}
	return []any{i, float64(r.IntN(10_000_000)) / 100, float64(r.IntN(100_000)) / 100, at(), at(), at(), words[r.IntN(len(words))]}
}

// load makes a table of n rows in a SQLite file.
func load(path, table, columns string, n int, row func(*rand.Rand, int) []any) error {
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE " + table + " (" + columns + ")"); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	marks := "?" + strings.Repeat(", ?", strings.Count(columns, ", "))
	stmt, err := tx.Prepare("INSERT INTO " + table + " VALUES (" + marks + ")")
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < n; i++ {
		if _, err := stmt.Exec(row(r, i)...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// multiply makes a file whose table l has that of source times over.
func multiply(path, source string, times int) error {
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("ATTACH ? AS s", source); err != nil {
		return err
	}
	if _, err := db.Exec("CREATE TABLE main.l (" + itemColumns + ")"); err != nil {
		return err
	}
	for i := 0; i < times; i++ {
		if _, err := db.Exec("INSERT INTO main.l SELECT * FROM s.l"); err != nil {
			return err
		}
	}
	return nil
}
