// Package optimize makes plans cheaper without changing what they give. A rule is a function that
// returns another node for one node, or leaves it; each is a file of its own, the list is in optimize.go,
// and they run until none finds anything. Pruning of columns and the order of joins look at the whole
// tree and run between.
//
// A rule may move or duplicate an expression that can fail only to where it meets no row that it would
// not have met before, so that no optimised plan fails where the plain one does not.
package optimize
