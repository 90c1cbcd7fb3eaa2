package testfile

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Case is one case of a file: Cmd is the directive, CmdArgs its arguments, Input the lines before ----.
type Case = datadriven.TestData

var update = flag.Bool("update", false, "rewrite the expected output of data-driven test files")

// Updating reports whether the files are being rewritten.
func Updating() bool { return *update }

// Run runs the cases of one file in order; f returns a case's output, and a difference from what the
// file expects fails the test.
func Run(t *testing.T, path string, f func(t *testing.T, c *Case) string) {
	t.Helper()
	if *update {
		if err := flag.Set("rewrite", "true"); err != nil {
			t.Fatal(err)
		}
	}
	if !testing.Verbose() {
		if err := flag.Set("datadriven-quiet", "true"); err != nil {
			t.Fatal(err)
		}
	}
	datadriven.RunTest(t, path, f)
}

// Walk calls f in a subtest for every file with the given extension in a directory and below. It fails
// when there is none, so that a moved directory does not pass unseen.
func Walk(t *testing.T, dir, ext string, f func(t *testing.T, path string)) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ext {
			return err
		}
		found++
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		t.Run(strings.TrimSuffix(filepath.ToSlash(name), ext), func(t *testing.T) { f(t, path) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Fatalf("no %s files in %s", ext, dir)
	}
}

// Has reports whether a case's directive carries an argument of the given name.
func Has(c *Case, arg string) bool {
	for _, a := range c.CmdArgs {
		if a.Key == arg {
			return true
		}
	}
	return false
}

// Values returns the values of an argument, as of `ways=(a, b)`; nil when it is absent.
func Values(c *Case, arg string) []string {
	for _, a := range c.CmdArgs {
		if a.Key == arg {
			return a.Vals
		}
	}
	return nil
}
