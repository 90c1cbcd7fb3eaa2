//go:build !failpoint

package failpoint

import "os"

// Hit marks a place; it does nothing.
func Hit(string) error { return nil }

// Mutant reports whether a deliberate fault is switched on; it never is.
func Mutant(string) bool { return false }

// Left writes down what is still open at the end of the process; it does nothing.
func Left() {}

// Sniff is a mutant's; it does nothing.
func Sniff(string) {}

// SignPID is a mutant's; it does nothing.
func SignPID(*os.File) {}

// CheckPID is a mutant's; it does nothing.
func CheckPID(string) error { return nil }
