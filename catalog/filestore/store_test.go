package filestore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/internal/testfile"
)

var ctx = context.Background()

func descriptor(name, comment string, kv ...string) catalog.Descriptor {
	d := catalog.Descriptor{Ref: catalog.Ref{Name: name, Properties: map[string]string{}}, Comment: comment}
	for i := 0; i < len(kv); i += 2 {
		d.Properties[kv[i]] = kv[i+1]
	}
	return d
}

// What a file of the store means, or where and why it is refused.
func TestStoreFiles(t *testing.T) {
	testfile.Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			text := strings.NewReplacer("␉", "\t", "␍", "\r", "␀", "\x00", "␠", " ", "⟨eof⟩", "").Replace(c.Input + "\n")
			if c.Cmd == "bytes" {
				text = strings.ReplaceAll(text, "?", "\xff")
			}
			properties, comment, err := parseProperties("f.yaml", text)
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			if comment != "" {
				fmt.Fprintf(&b, "comment %q\n", comment)
			}
			for _, k := range slices.Sorted(maps.Keys(properties)) {
				fmt.Fprintf(&b, "%q = %q\n", k, properties[k])
			}
			return b.String()
		})
	})
}

// Whatever is kept is what comes back, and the file shows every character that it has.
func TestStoreRoundTrip(t *testing.T) {
	seed := time.Now().UnixNano()
	r := rand.New(rand.NewSource(seed))
	alphabet := []rune("aZ0 \t\n\r\"'\\#:{}[]|>-%@`~!&*?,./_\u0000\u001b\u007f\u0085\u00a0\u2028\ufeff\u202eé語😀\U000e0001")
	text := func() string {
		var b strings.Builder
		for range r.Intn(12) {
			b.WriteRune(alphabet[r.Intn(len(alphabet))])
		}
		return b.String()
	}
	for range 3000 {
		d := descriptor("c", text())
		for range r.Intn(5) {
			d.Properties["k"+text()] = text()
		}
		file, err := printProperties(d)
		require.NoError(t, err)
		for _, c := range file {
			require.False(t, c != '\n' && (c < ' ' || c >= 0x7f && c <= 0xa0 || c == 0x202e), "%q shows %q (seed %d)", file, c, seed)
		}
		properties, comment, err := parseProperties("f", file)
		require.NoError(t, err, "%q (seed %d)", file, seed)
		require.Equal(t, d, catalog.Descriptor{Ref: catalog.Ref{Name: "c", Properties: properties}, Comment: comment}, "seed %d", seed)
	}
	_, err := printProperties(descriptor("c", "", "password", "\xff"))
	require.ErrorContains(t, err, `the value of "password" is not valid UTF-8`)
}

// Every name has a file of its own inside the directory, and comes back from it.
func TestStoreNames(t *testing.T) {
	names := []string{"c", "my cat", "../up", "..", ".", ".hidden", "a/b", "a\x00b", "a.b", "a.yaml", "50%", "%41", "%2e", "Größe", "語", "x\n", "\ufffd", "-", "C"}
	dir := filepath.Join(t.TempDir(), "deep", "store")
	s := New(dir)
	for _, n := range names {
		require.NoError(t, s.Store(ctx, descriptor(n, "", "type", n)))
	}
	got, err := s.List(ctx)
	require.NoError(t, err)
	slices.Sort(names)
	require.Equal(t, names, got)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, len(names))
	for _, e := range entries {
		st, err := e.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), st.Mode())
		require.NotEqual(t, byte('.'), e.Name()[0])
	}
	st, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), st.Mode().Perm())
	for _, n := range names {
		d, ok, err := s.Get(ctx, n)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, descriptor(n, "", "type", n), d)
		require.NoError(t, s.Remove(ctx, n))
		require.ErrorIs(t, s.Remove(ctx, n), catalog.ErrCatalogNotExist)
	}
	require.ErrorContains(t, s.Store(ctx, descriptor("", "")), "a catalog needs a name")
	require.ErrorContains(t, s.Store(ctx, descriptor("a\xff", "")), "is not valid UTF-8")
	require.ErrorContains(t, s.Store(ctx, descriptor(strings.Repeat("x", 201), "")), "is too long for a file's name")
	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)

	// Flink escapes nothing.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "my cat.yaml"), []byte("type: \"jdbc\"\n"), 0o644))
	d, ok, err := s.Get(ctx, "my cat")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, descriptor("my cat", "", "type", "jdbc"), d)
	require.ErrorIs(t, s.Store(ctx, d), catalog.ErrCatalogAlreadyExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "my%20cat.yaml"), nil, 0o644))
	_, err = s.List(ctx)
	require.EqualError(t, err, "catalog store "+dir+": the files my cat.yaml and my%20cat.yaml would both be the catalog `my cat`; remove one")
}

func TestStoreChanges(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "s"))
	names, err := s.List(ctx)
	require.NoError(t, err)
	require.Empty(t, names)
	require.ErrorIs(t, s.Remove(ctx, "c"), catalog.ErrCatalogNotExist)
	one, two := descriptor("c", "one", "type", "x"), descriptor("c", "", "type", "x", "a.b", "")
	require.ErrorIs(t, s.Replace(ctx, one, two), catalog.ErrCatalogNotExist)
	require.NoError(t, s.Store(ctx, one))
	require.ErrorIs(t, s.Store(ctx, two), catalog.ErrCatalogAlreadyExist)
	require.ErrorIs(t, s.Replace(ctx, two, one), catalog.ErrCatalogChanged)
	require.NoError(t, s.Replace(ctx, one, two))
	d, ok, err := s.Get(ctx, "c")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, two, d)
}

// Files that are not to be trusted or read.
func TestStoreHostile(t *testing.T) {
	dir := t.TempDir()
	s := New(dir)
	get := func(name string) error {
		_, _, err := s.Get(ctx, name)
		return err
	}
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600))
	require.EqualError(t, get("pipe"), "catalog store "+dir+"/pipe.yaml: it is not a regular file")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big.yaml"), make([]byte, storeMaxFile+1), 0o600))
	require.EqualError(t, get("big"), "catalog store "+dir+"/big.yaml: it is longer than 1 MiB")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte("a: 1\nb\n"), 0o600))
	require.EqualError(t, get("bad"), "catalog store file "+dir+"/bad.yaml, line 2: key: \"value\" is wanted")
	require.NoError(t, s.Remove(ctx, "bad"), "what cannot be read can be dropped")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "open.yaml"), nil, 0o600))
	require.NoError(t, os.Chmod(filepath.Join(dir, "open.yaml"), 0o666))
	require.ErrorContains(t, get("open"), "everybody may write the file")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.yaml"), 0o700))
	names, err := s.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"big", "open", "pipe"}, names)
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = s.List(ctx)
	require.ErrorContains(t, err, "everybody may write the directory")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = New(file).List(ctx)
	require.EqualError(t, err, "catalog store "+file+": it is not a directory")
	require.EqualError(t, New(file).Store(ctx, descriptor("c", "")), "catalog store "+file+": not a directory")
}

// What a writer that died has left is invisible, and goes with the next change. What only looks like it is
// somebody else's, and nothing is touched in a directory that everybody may write.
func TestStoreRemains(t *testing.T) {
	dir := t.TempDir()
	s := New(dir)
	left := filepath.Join(dir, storeTemp+"123")
	others := []string{".sluice-mybackup", ".sluice-123", ".sluice-catalog-", ".sluice-catalog-x1", ".sluice-catalog-99999999999",
		".sluice-000102030405060708090a0b0c0d0e0f.new", "sluice-catalog-1"}
	for _, name := range append(others, filepath.Base(left)) {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "c.yaml"), []byte("type: \"half"), 0o600))
	}
	names, err := s.List(ctx)
	require.NoError(t, err)
	require.Empty(t, names)
	require.NoError(t, os.Chmod(dir, 0o777))
	require.ErrorContains(t, s.Store(ctx, descriptor("c", "", "type", "x")), "everybody may write the directory")
	require.DirExists(t, left)
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, s.Store(ctx, descriptor("c", "", "type", "x")))
	require.NoDirExists(t, left)
	for _, name := range others {
		require.FileExists(t, filepath.Join(dir, name, "c.yaml"))
	}
}

// Whoever waits for the change of another process can be called off.
func TestStoreWaitIsCanceled(t *testing.T) {
	dir := t.TempDir()
	release, err := New(dir).lock(ctx)
	require.NoError(t, err)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, New(dir).Store(short, descriptor("c", "")), context.DeadlineExceeded)
	require.NoError(t, release())
	_, err = New(dir).List(short)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, New(dir).Store(ctx, descriptor("c", "")))
}

// Processes that use one store at once: every catalog is made by exactly one of them, and no reader sees
// half of one.
func TestStoreProcesses(t *testing.T) {
	const processes, catalogs = 4, 25
	if dir := os.Getenv("CATALOG_STORE"); dir != "" {
		s := New(dir)
		for i := range catalogs {
			err := s.Store(ctx, descriptor(fmt.Sprint("c", i), "", "by", fmt.Sprint(os.Getpid()), "filler", strings.Repeat("x", 5000)))
			if err == nil {
				fmt.Println("made", i)
			} else if !errors.Is(err, catalog.ErrCatalogAlreadyExist) {
				fmt.Println("error", err)
			}
			names, err := s.List(ctx)
			for _, n := range names {
				if n == "counter" {
					continue
				}
				if d, ok, e := s.Get(ctx, n); e != nil || ok && len(d.Properties["filler"]) != 5000 {
					fmt.Println("error", n, e)
				}
			}
			if err != nil {
				fmt.Println("error", err)
			}
			for { // counts up, each by a change of its own
				d, _, err := s.Get(ctx, "counter")
				if err != nil {
					fmt.Println("error", err)
				}
				next := descriptor("counter", "", "n", d.Properties["n"]+"x")
				if err = s.Replace(ctx, d, next); err == nil {
					break
				} else if !errors.Is(err, catalog.ErrCatalogChanged) {
					fmt.Println("error", err)
					break
				}
			}
		}
		return
	}
	dir := t.TempDir()
	s := New(dir)
	require.NoError(t, s.Store(ctx, descriptor("counter", "", "n", "")))
	self, err := os.Executable()
	require.NoError(t, err)
	outs := make([]strings.Builder, processes)
	cmds := make([]*exec.Cmd, processes)
	for i := range cmds {
		cmds[i] = exec.Command(self, "-test.run=^TestStoreProcesses$")
		cmds[i].Env = append(os.Environ(), "CATALOG_STORE="+dir)
		cmds[i].Stdout = &outs[i]
		require.NoError(t, cmds[i].Start())
	}
	made := 0
	for i := range cmds {
		require.NoError(t, cmds[i].Wait(), outs[i].String())
		require.NotContains(t, outs[i].String(), "error")
		made += strings.Count(outs[i].String(), "made ")
	}
	require.Equal(t, catalogs, made)
	d, _, err := s.Get(ctx, "counter")
	require.NoError(t, err)
	require.Len(t, d.Properties["n"], processes*catalogs)
}

// Whenever a process that changes the store is killed, each catalog is whole, and the next change goes on.
func TestStoreKilled(t *testing.T) {
	filler := strings.Repeat("x", 20_000)
	if dir := os.Getenv("CATALOG_STORE_TO_KILL"); dir != "" {
		s := New(dir)
		for i := 0; ; i++ {
			d, ok, err := s.Get(ctx, "c")
			if err == nil && !ok {
				err = s.Store(ctx, descriptor("c", "", "n", "0", "filler", filler))
			} else if err == nil && i%5 == 0 {
				err = s.Remove(ctx, "c")
			} else if err == nil {
				err = s.Replace(ctx, d, descriptor("c", "", "n", fmt.Sprint(i), "filler", filler))
			}
			if err != nil {
				fmt.Println("error", err)
			}
			fmt.Println("done")
		}
	}
	dir := filepath.Join(t.TempDir(), "s")
	s := New(dir)
	self, err := os.Executable()
	require.NoError(t, err)
	for range 15 {
		cmd := exec.Command(self, "-test.run=^TestStoreKilled$")
		cmd.Env = append(os.Environ(), "CATALOG_STORE_TO_KILL="+dir)
		pipe, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		out := bufio.NewReader(pipe)
		first, err := out.ReadString('\n') // it is at it
		require.NoError(t, err)
		time.Sleep(time.Duration(rand.Intn(40)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		rest, err := io.ReadAll(out)
		require.NoError(t, err)
		_ = cmd.Wait() // it was killed
		require.Equal(t, "done\n", first)
		require.NotContains(t, string(rest), "error")
		names, err := s.List(ctx)
		require.NoError(t, err)
		for _, n := range names {
			d, _, err := s.Get(ctx, n)
			require.NoError(t, err)
			require.Len(t, d.Properties["filler"], len(filler))
		}
	}
	require.NoError(t, s.Store(ctx, descriptor("last", "")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.False(t, e.IsDir(), "%s is left", e.Name())
	}
}

func FuzzStoreFile(f *testing.F) {
	f.Add("# comment: \"c\"\ntype: \"jdbc\"\n'a b': 'it''s'\nlong: \"one \\\n  \\ two\n\n  three\"\nplain: x # y\n")
	f.Add("---\n{}\n")
	f.Add("a: \t\n\"\n\"'#'\n")
	f.Fuzz(func(t *testing.T, text string) {
		properties, comment, err := parseProperties("f", text)
		if err != nil {
			return
		}
		file, err := printProperties(catalog.Descriptor{Ref: catalog.Ref{Properties: properties}, Comment: comment})
		require.NoError(t, err)
		again, c, err := parseProperties("f", file)
		require.NoError(t, err, file)
		require.Equal(t, properties, again)
		require.Equal(t, comment, c)
	})
}
