// Package faultfs makes what SQLite asks of the operating system fail, for tests: the nth write, fsync, lock, memory
// allocation … of this process ends with an error that the real one could have had. It wraps SQLite's own file system
// and becomes the default, so the code under test runs as it is. Only tests import it.
//
// [Install] comes before anything opens a database. [Arm] says what fails; [Disarm] ends that and says how many calls
// there were, which is how a test learns how many places there are to fail at. A test arms with Nth 0 to count, then
// with 1, 2, 3 … up to that number.
package faultfs
