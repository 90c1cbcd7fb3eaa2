package filesystem

import "golang.org/x/sys/unix"

func mountSmall(dir string) error { return unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m") }

func unmount(dir string) error { return unix.Unmount(dir, 0) }
