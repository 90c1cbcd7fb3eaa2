//go:build !failpoint

package failpoint

// Hit marks a place; it does nothing.
func Hit(string) error { return nil }

// Mutant reports whether a deliberate fault is switched on; it never is.
func Mutant(string) bool { return false }
