// Package filestore is the catalog store of kind file: the definitions of catalogs, kept between sessions in a
// directory that Flink's file catalog store reads and writes too.
//
// [Store] has the directory and its lock, yaml.go the text of a file. A change is made whole or not at all,
// also when the process is killed; sessions that use one directory at once see it before or after.
package filestore
