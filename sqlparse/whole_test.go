package sqlparse

// split cuts a script into its statements. A last statement needs no semicolon;
// what is empty but for comments is left out. A quote or comment that is not
// closed is an *Error (spans count from the start of text), and the statements
// before it are returned as well.
func split(text string) ([]StatementText, error) {
	var s Splitter
	s.Feed(text)
	var list []StatementText
	for {
		t, ok, err := s.Next()
		if err == nil && !ok {
			t, ok, err = s.Finish()
			if err == nil && ok {
				list = append(list, t)
			}
			if err == nil {
				return list, nil
			}
		}
		if err != nil {
			e := *err.(*Error)
			e.Span.Start += t.Offset
			e.Span.End += t.Offset
			return list, &e
		}
		list = append(list, t)
	}
}

// parseExpr makes the tree of a lone expression.
func parseExpr(text string) (Expr, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	e := p.expr()
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return e, nil
}

// parseType makes the tree of a lone data type.
func parseType(text string) (TypeName, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	t := p.typeName()
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return t, nil
}
