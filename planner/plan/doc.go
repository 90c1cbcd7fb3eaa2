// Package plan holds the nodes of a query plan between binding and lowering.
//
// A [Node] is a small immutable struct: its inputs, its typed expressions over the columns of its inputs by
// position, and the schema of its rows. Names are resolved; nothing here reads them but EXPLAIN. Rewriting
// builds new nodes with the New functions, which derive the schema. One file holds each kind of node;
// explain.go prints a tree.
package plan
