// Package bind turns statement trees into plans: names are resolved, every expression is typed, and what
// is wrong or cannot be run is refused at its place in the text. It is the last stage that reads names.
//
// A [Binder] binds one statement. query.go dispatches over the kinds of queries; select.go follows one
// SELECT from FROM to ORDER BY; expr.go types expressions through package expr; scope.go finds columns;
// insert.go and create_table.go bind the statements around a query; declared.go makes a table's definition
// for all statements that have one. view.go and computed.go bind what was stored as text, whose expressions
// texts.go gives their places in it; rewrites.go prints a query so that it can be stored. Errors are
// *sqlparse.Error.
package bind
