// Package expr holds typed expression trees, the tables of scalar and aggregate functions, and their
// evaluation over a [column.Batch].
//
// An [Expr] is a [Column], a [Literal], a [Call] of a [Function], or a [Cast]. AND, OR, CASE, COALESCE,
// the comparisons and the arithmetic signs are functions like all others: one literal each in an
// fn_<group>.go file with name, signature, kernel, doc and example. Build a call with [NewCall], which
// resolves the overload, adds the implicit casts and types the result; build an aggregate with
// [NewAggregate]. [Compile] turns an expression into an [Evaluator]; [Fold] evaluates what is constant.
//
// Kernels work on whole vectors at the selected physical rows. The environment (start instant, zone,
// random seed) is an argument, never read from the process. A run-time error is an [Error] that carries
// the [Span] of the failing expression and the physical row; who knows the statement's text makes a
// position of it.
package expr
