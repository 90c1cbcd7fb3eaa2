// Package filesystem is the connector 'filesystem': tables that are files, or directories of files, in one of
// the formats it is given.
//
// A path that is a file is that file; one that is a directory is all files in it and below, by name, but those
// whose names begin with . or _. Files that end in .gz, .bz2 or .deflate are decompressed. The list of files
// and their sizes are fixed when a query begins: what is added later is not read, and a file that is replaced,
// shortened or rewritten meanwhile is an error. Large files are cut into pieces where their format can tell
// where a row begins.
//
// With 'source.monitor-interval' the directory is watched: the table has no end, and files that come are read in
// the order of their last change, each once and when it has not changed for an interval (see watch.go).
//
// INSERT adds one file to a directory, all or nothing. Its rows go into a hidden file, which is synced, given
// its name by one rename, and made durable by syncing the directory. A directory that does not exist is made
// aside with the file in it, and appears by that rename, too. The job holds a lock (flock) of the hidden file or
// directory as long as it lives; what a job that died left behind is removed by the next use of the directory,
// or the next INSERT into one below it, which gets that lock.
// CREATE TABLE AS is the same into a directory that has no data, and looks again at that when it publishes.
package filesystem
