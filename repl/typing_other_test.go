//go:build !linux

package repl

import "testing"

// runOnTerminal needs pseudo-terminals as Linux has them.
func runOnTerminal(t *testing.T, _ string) { t.Skip("no pseudo-terminals") }
