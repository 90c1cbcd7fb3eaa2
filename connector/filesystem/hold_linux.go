package filesystem

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// hold returns a name that stays that of the file at path until it is let go, without opening it.
func hold(path string) (name string, let func(), err error) {
	held, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(held), func() { _ = unix.Close(held) }, nil // it only names the file
}
