// Package testrows makes rows for the tests of stores, writes them in a transaction and reads them as text.
package testrows

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Schema is a schema of "name TYPE" texts; a star after the name makes it part of the key.
func Schema(t testing.TB, columns ...string) types.Schema {
	t.Helper()
	var s types.Schema
	for _, c := range columns {
		name, text, _ := strings.Cut(c, " ")
		if n, ok := strings.CutSuffix(name, "*"); ok {
			name = n
			s.PrimaryKey = append(s.PrimaryKey, n)
		}
		s.Columns = append(s.Columns, types.Column{Name: name, Type: Type(t, text)})
	}
	return s
}

// Type is the type that a text names.
func Type(t testing.TB, text string) types.Type {
	t.Helper()
	got, err := types.ParseType(text)
	require.NoError(t, err, text)
	return got
}

// Numbers is a batch of one INT column, from a number on.
func Numbers(from, n int) *column.Batch {
	b := column.NewBatch([]types.Type{types.Of(types.Int)}, n)
	for i := range n {
		b.Cols[0].AppendI64(int64(from + i))
	}
	b.N = n
	return b
}

// Feed returns a next of these batches.
func Feed(batches ...*column.Batch) func() (*column.Batch, error) {
	return func() (*column.Batch, error) {
		if len(batches) == 0 {
			return nil, nil
		}
		b := batches[0]
		batches = batches[1:]
		return b, nil
	}
}

// Write runs a transaction up to its seal.
func Write(ctx context.Context, tx connector.Transaction, next func() (*column.Batch, error)) (int64, error) {
	if err := tx.Begin(ctx, connector.NewJobID()); err != nil {
		return 0, err
	}
	w, err := tx.Writer(ctx, 0)
	if err != nil {
		return 0, err
	}
	if err := w.Write(ctx, next); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return tx.Seal(ctx)
}

// Done writes and commits.
func Done(ctx context.Context, t testing.TB, tx connector.Transaction, batches ...*column.Batch) int64 {
	t.Helper()
	n, err := Write(ctx, tx, Feed(batches...))
	require.NoError(t, err)
	out, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	return n
}

// Read reads a table by one reader.
func Read(ctx context.Context, tab connector.Scannable, scan connector.Scan, parallelism int) (got []*column.Batch, err error) {
	src, err := tab.Source(ctx, scan)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	splits, err := src.Splits(ctx, parallelism)
	if err != nil {
		return nil, err
	}
	r, err := src.Reader(ctx, splits)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		b := &column.Batch{}
		status, err := r.Read(ctx, b)
		if err != nil {
			return got, err
		}
		if b.N > 0 {
			got = append(got, b)
		}
		if status == connector.End {
			return got, nil
		}
	}
}

// Text is rows as text, each a line, with null for NULL.
func Text(null string, batches ...*column.Batch) string {
	var b []byte
	for _, batch := range batches {
		for i := range batch.N {
			for c, v := range batch.Cols {
				if c > 0 {
					b = append(b, '|')
				}
				if v.IsNull(i) {
					b = append(b, null...)
				} else {
					b = column.AppendText(b, v, i, nil)
				}
			}
			b = append(b, '\n')
		}
	}
	return string(b)
}
