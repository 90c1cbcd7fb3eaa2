//go:build invariants

package optimize

// noFixpoint says, where invariants are checked, that two rules undo each other.
func noFixpoint() { panic("optimize: the rules reach no fixpoint") }
