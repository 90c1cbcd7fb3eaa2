package sqlparse

type printer struct{ buf []byte }
