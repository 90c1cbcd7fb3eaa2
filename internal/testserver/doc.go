// Package testserver starts database servers for tests: PostgreSQL and MariaDB from their Debian packages, each in
// a temporary directory of its own, on a free port of the loopback address. There is one of a kind for each test
// binary, started at first use; it ends, and its files go, when the binary does, also when that is killed.
//
// [Proxy] stands between a client and a server, and cuts, delays or drops what passes.
package testserver
