package filesystem_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/filesystem"
	"github.com/sluice-sql/sluice/connector/format/csv"
	"github.com/sluice-sql/sluice/connector/format/json"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// TestScripts runs the statements of testdata, each file in a session of its own, with one reader and with four.
//
// Directives:
//
//	sql          statements; their rows and messages are the output
//	file NAME    makes the file; its output is empty
//	files        the names and contents of all files, hidden ones, too
//
// $TMP is the directory of the script.
func TestScripts(t *testing.T) {
	testfile.Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		var first []string
		for i, parallelism := range []string{"1", "4"} {
			tmp := t.TempDir()
			s, err := session.New(session.Config{
				Env:        &connector.Env{Clock: time.Now, TempDir: t.TempDir(), StateDir: t.TempDir(), Memory: connector.NewMemory(64 << 20), Files: connector.NewFiles()},
				Catalogs:   []catalog.Factory{memorycatalog.Factory{}},
				Connectors: []connector.Factory{filesystem.Connector{Formats: []connector.Format{csv.Format{}, json.Format{}}}},
				Options:    map[string]string{"table.local-time-zone": "UTC", "parallelism.default": parallelism, "table.catalog-store.file.path": tmp + "/catalogs"},
			})
			require.NoError(t, err)
			var outs []string
			testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
				out := ""
				switch c.Cmd {
				case "file":
					name := filepath.Join(tmp, c.CmdArgs[0].Key)
					require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
					require.NoError(t, os.WriteFile(name, []byte(c.Input+"\n"), 0o644))
				case "files":
					out = contents(t, tmp)
				default:
					out = run(s, strings.ReplaceAll(c.Input, "$TMP", tmp))
				}
				out = jobID.ReplaceAllString(strings.ReplaceAll(out, tmp, "$TMP"), "<job>")
				outs = append(outs, out)
				return out
			})
			require.NoError(t, s.Close())
			if i == 0 {
				first = outs
			}
			require.Equal(t, first, outs)
		}
	})
}

var jobID = regexp.MustCompile("[0-9a-f]{32}")

func contents(t *testing.T, dir string) string {
	var out strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s\n%s", path, b)
		return err
	}))
	return out.String()
}

// run executes statements up to the first that fails.
func run(s *session.Session, sql string) string {
	var out strings.Builder
	var sp sqlparse.Splitter
	sp.Feed(sql)
	for {
		st, ok, err := sp.Next()
		if err == nil && !ok {
			st, ok, err = sp.Finish()
		}
		if err == nil && ok {
			err = execute(&out, s, session.Text{Name: "test", SQL: st.Text, Line: st.Line, Column: st.Column})
		}
		if err != nil {
			fmt.Fprintln(&out, err)
		}
		if err != nil || !ok {
			return out.String()
		}
	}
}

func execute(out *strings.Builder, s *session.Session, text session.Text) error {
	ctx := context.Background()
	r, err := s.Execute(ctx, text)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if r.Kind == session.Written {
		fmt.Fprintf(out, "%d rows written\n", r.Affected)
	}
	for {
		b, err := r.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		for i := range b.Rows() {
			for k, v := range b.Cols {
				if k > 0 {
					out.WriteString(" | ")
				}
				if row := b.Row(i); v.IsNull(row) {
					out.WriteString("NULL")
				} else {
					out.Write(column.AppendText(nil, v, row, nil))
				}
			}
			out.WriteByte('\n')
		}
	}
}
