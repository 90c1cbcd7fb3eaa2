//go:build race

package main

// raced reports the race detector, which sees nothing of what the proof runs: binaries that are built without it.
const raced = true
