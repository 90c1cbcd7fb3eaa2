//go:build !linux

package filesystem

// hold returns path itself: a file cannot be held everywhere without being opened. One that is replaced by a
// database of ours between the look at it and its opening is found out by its first bytes only.
func hold(path string) (name string, let func(), err error) { return path, func() {}, nil }
