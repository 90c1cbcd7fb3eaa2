package sqlparse

// ShowFunctions is SHOW [USER] FUNCTIONS [{FROM|IN} [catalog.]database] [like].
type ShowFunctions struct {
	Pos
	User bool
	From *ObjectName // nil: the current database
	Like *ShowLike   // nil: all
}

// DescribeFunction is {DESCRIBE|DESC} FUNCTION [EXTENDED] name.
type DescribeFunction struct {
	Pos
	Extended bool
	Name     ObjectName
}

// ShowModules is SHOW [FULL] MODULES.
type ShowModules struct {
	Pos
	Full bool
}

func (*ShowFunctions) statement()      {}
func (*ShowFunctions) Form() string    { return "SHOW FUNCTIONS" }
func (*DescribeFunction) statement()   {}
func (*DescribeFunction) Form() string { return "DESCRIBE FUNCTION" }
func (*ShowModules) statement()        {}
func (*ShowModules) Form() string      { return "SHOW MODULES" }

// showFunctions: SHOW [USER] FUNCTIONS [{FROM|IN} [catalog.]database] [like]
func (p *parser) showFunctions(start int) Statement {
	s := &ShowFunctions{}
	p.expect("SHOW")
	s.User = p.accept("USER")
	p.expect("FUNCTIONS")
	s.From = p.fromDatabase()
	s.Like = p.showLike()
	s.Pos = p.pos(start)
	return s
}

// describeFunction: {DESCRIBE|DESC} FUNCTION [EXTENDED] name. The name of a
// function may be a reserved word, as UPPER is.
func (p *parser) describeFunction(start int) Statement {
	s := &DescribeFunction{}
	p.next()
	p.expect("FUNCTION")
	s.Extended = p.extended()
	if t := p.tok; t.reserved { // as CAST and SUBSTRING are
		p.next()
		s.Name = ObjectName{At(t.span()), []Ident{{At(t.span()), t.text}}}
	} else {
		s.Name = p.objectName("a function's name", 3)
	}
	s.Pos = p.pos(start)
	return s
}

// showModules: SHOW [FULL] MODULES
func (p *parser) showModules(start int) Statement {
	s := &ShowModules{}
	p.expect("SHOW")
	s.Full = p.accept("FULL")
	p.expect("MODULES")
	s.Pos = p.pos(start)
	return s
}

func (s *ShowFunctions) print(p *printer) {
	p.str("SHOW ")
	p.opt(s.User, "USER ")
	p.str("FUNCTIONS")
	p.fromDatabase(s.From)
	p.showLike(s.Like)
}

func (s *DescribeFunction) print(p *printer) {
	p.str("DESCRIBE FUNCTION ")
	p.opt(s.Extended, "EXTENDED ")
	s.Name.print(p)
}

func (s *ShowModules) print(p *printer) {
	p.str("SHOW ")
	p.opt(s.Full, "FULL ")
	p.str("MODULES")
}

func (*ShowFunctions) children(func(Node))    {}
func (*DescribeFunction) children(func(Node)) {}
func (*ShowModules) children(func(Node))      {}
