package repl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// procFDs has the open files of the process, with a name or without.
const procFDs = "/proc/self/fd"

// createBeside creates a file in the directory of path. Where the file system can, it has no name, so that
// nothing is left of it when the process is killed; else temp is its name.
func createBeside(path string) (f *os.File, temp string, err error) {
	if err := unix.Access(procFDs, unix.X_OK); err != nil { // it could not get a name later
		return createNamed(path)
	}
	fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err == nil {
		return os.NewFile(uintptr(fd), path), "", nil
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) {
		return nil, "", err
	}
	return createNamed(path)
}

// linkBeside gives a file without a name one in the directory of path.
func linkBeside(f *os.File, path string) (temp string, err error) {
	for {
		temp := tempName(path)
		err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("%s/%d", procFDs, f.Fd()), unix.AT_FDCWD, temp, unix.AT_SYMLINK_FOLLOW)
		if err == nil {
			return temp, nil
		}
		if !errors.Is(err, unix.EEXIST) {
			return "", fmt.Errorf("name the new file %s: %w", strings.TrimPrefix(temp, "./"), err)
		}
	}
}
