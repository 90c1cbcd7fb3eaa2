package filesystem_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/datagen"
	"github.com/sluice-sql/sluice/connector/filesystem"
	"github.com/sluice-sql/sluice/connector/format/csv"
	"github.com/sluice-sql/sluice/connector/print"
	"github.com/sluice-sql/sluice/exec"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// output is what is printed, by whoever.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// One job makes rows and writes a file at each checkpoint, a second one watches the directory and prints: all
// rows come out, once each and in order.
func TestFromOneStreamingJobToAnother(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "between")
	out := &output{}
	env := &connector.Env{Clock: time.Now, TempDir: t.TempDir(), StateDir: t.TempDir(), Memory: connector.NewMemory(64 << 20), Files: connector.NewFiles(), Out: out, Err: out}
	registry := &catalog.Registry{Env: env, Catalogs: []catalog.Factory{memorycatalog.Factory{}},
		Connectors: []connector.Factory{datagen.Connector{}, print.Connector{}, filesystem.Connector{Formats: []connector.Format{csv.Format{}}}}}
	ref := catalog.Ref{Name: "c", Properties: map[string]string{"type": "generic_in_memory"}}
	live, err := registry.New(ref)
	require.NoError(t, err)
	rt := &exec.Runtime{Registry: registry, Live: func(string) (catalog.Catalog, bool) { return live, true }}

	column := types.Column{Name: "id", Type: types.Of(types.BigInt)}
	submit := func(from, to map[string]string) *exec.Job {
		id := func(name string) connector.ObjectIdentifier {
			return connector.ObjectIdentifier{Catalog: "c", Database: "default_database", Object: name}
		}
		properties := func(options map[string]string) map[string]string {
			return (&catalog.CatalogTable{Schema: types.Schema{Columns: []types.Column{column}}, Options: options}).Properties()
		}
		g := &job.Graph{Version: job.Version, ID: connector.NewJobID(), Mode: job.Streaming, Zone: "UTC", Parallelism: 1, BatchRows: 2048,
			CheckpointInterval: 20 * time.Millisecond, Catalogs: []catalog.Ref{ref},
			Vertices: []job.Vertex{
				{ID: 0, Parallelism: 1, Out: []types.Column{column}, Spec: &job.Scan{Table: job.Table{Identifier: id("source"), Properties: properties(from)}, Columns: []int{0}, Limit: -1, Names: []string{"id"}}},
				{ID: 1, Parallelism: 1, Out: []types.Column{column}, Spec: &job.Sink{Table: id("sink"), Names: []string{"id"}}},
			},
			Edges: []job.Edge{{From: 0, To: 1, Kind: job.Forward}},
			Hooks: []hooks.Spec{{Kind: hooks.Insert, Catalog: ref, Table: id("sink"), Properties: properties(to), Columns: []int{0}}},
		}
		encoded, err := job.Encode(g)
		require.NoError(t, err)
		j, err := rt.Submit(ctx, encoded)
		require.NoError(t, err)
		return j
	}
	files := map[string]string{"connector": "filesystem", "path": dir, "format": "csv"}
	watched := map[string]string{"connector": "filesystem", "path": dir, "format": "csv", "source.monitor-interval": "50 ms"}
	printing := submit(watched, map[string]string{"connector": "print"})
	making := submit(map[string]string{"connector": "datagen", "rows-per-second": "1000",
		"fields.id.kind": "sequence", "fields.id.start": "1", "fields.id.end": "1000000000"}, files)
	parts := func() []os.DirEntry {
		entries, err := os.ReadDir(dir)
		if err != nil {
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		return slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name()[0] == '.' })
	}
	for len(parts()) < 4 || making.Rows() < 600 {
		require.False(t, making.State().Final())
		time.Sleep(5 * time.Millisecond)
	}
	require.NoError(t, making.Stop(ctx))
	require.NoError(t, making.Wait(ctx))
	require.Equal(t, exec.Finished, making.State())
	rows := int(making.Rows())
	for strings.Count(out.String(), "\n") < rows {
		require.False(t, printing.State().Final())
		time.Sleep(5 * time.Millisecond)
	}
	require.NoError(t, printing.Stop(ctx))
	require.NoError(t, printing.Wait(ctx))
	var want strings.Builder
	for i := range rows {
		fmt.Fprintf(&want, "+I[%d]\n", i+1)
	}
	require.Equal(t, want.String(), out.String())
	for _, e := range parts() {
		require.True(t, strings.HasPrefix(e.Name(), "part-"+making.ID().String()+"-"), e.Name())
	}
}
