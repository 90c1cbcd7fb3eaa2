// Package failpoint lets the crash tests end, stop or disturb the real binary at a named place. In a build with the
// tag "failpoint" the environment says what happens where, see failpoint.go; in every other build, the one that is
// shipped among them, [Hit], [Mutant] and the rest do nothing, and the compiler drops them.
package failpoint
