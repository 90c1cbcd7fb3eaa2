package sqlparse

// Set is SET 'key' = 'value', or SET alone (both nil), or SET 'key' (Value nil).
type Set struct {
	Pos
	Key, Value *Literal
}

// Reset is RESET 'key', or RESET alone (Key nil).
type Reset struct {
	Pos
	Key *Literal
}

// ShowJobs is SHOW JOBS.
type ShowJobs struct{ Pos }

// Help is HELP.
type Help struct{ Pos }

// Quit is QUIT or EXIT.
type Quit struct{ Pos }

// Clear is CLEAR.
type Clear struct{ Pos }

func (*Set) statement()        {}
func (*Set) Form() string      { return "SET" }
func (*Reset) statement()      {}
func (*Reset) Form() string    { return "RESET" }
func (*ShowJobs) statement()   {}
func (*ShowJobs) Form() string { return "SHOW JOBS" }
func (*Help) statement()       {}
func (*Help) Form() string     { return "HELP" }
func (*Quit) statement()       {}
func (*Quit) Form() string     { return "QUIT" }
func (*Clear) statement()      {}
func (*Clear) Form() string    { return "CLEAR" }
