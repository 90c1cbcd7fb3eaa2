// Package sqlparse turns the text of Flink SQL into statement trees and back.
//
// [Splitter] cuts a script into statements, [Parse] makes the tree
// of one statement, [Print] writes a tree as canonical one-line SQL that parses
// to an equal tree again. [Walk] visits a tree. [Tokens] sorts the words of any
// text, for colours and completion.
//
// Every node knows the bytes it was read from ([Node].Span, offsets into the
// statement's text). Everything that is wrong with a text is an [*Error] with
// such a span; [Error.Render] shows it as file:line:column, source line and caret.
//
// Nodes are sealed: [Statement], [Query], [TableExpr], [Expr] and [TypeName] are
// implemented here only, so a switch over them can be complete. Each feature is
// one file holding its nodes, their parsing and their printing; ast.go holds
// what they share, statements.go the table of all statement forms. lex.go cuts
// a statement into tokens, split.go a script into statements; where literals, names
// and comments end both learn from scan.go. Of the project the package
// imports only types, for the nearest word.
//
// Chains such as a AND b AND c lean to the left and are at most [MaxChain] long,
// all else nests at most [MaxDepth] deep: recursion in a consumer is safe.
package sqlparse
