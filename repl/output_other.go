//go:build !linux

package repl

import (
	"errors"
	"os"
)

// createBeside creates a file in the directory of path; temp is its name.
func createBeside(path string) (f *os.File, temp string, err error) { return createNamed(path) }

// linkBeside is for files without a name, of which there are none.
func linkBeside(*os.File, string) (string, error) { return "", errors.ErrUnsupported }
