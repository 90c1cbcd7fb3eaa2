package sqlparse

// Set is SET 'key' = 'value', or SET alone (both nil), or SET 'key' (Value nil).
type Set struct {
	Pos
	Key, Value *Literal
}

// Reset is RESET 'key', or RESET alone (Key nil).
type Reset struct {
	Pos
	Key *Literal
}

// ShowJobs is SHOW JOBS.
type ShowJobs struct{ Pos }

// DescribeJob is {DESCRIBE|DESC} JOB 'id'.
type DescribeJob struct {
	Pos
	ID *Literal
}

// StopJob is STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]. The spans are those of what is behind the id, zero
// where it is not there.
type StopJob struct {
	Pos
	ID               *Literal
	Savepoint, Drain Span
}

// Help is HELP [topic].
type Help struct {
	Pos
	Topic     string // the text behind HELP as written; "": none
	TopicSpan Span
}

// SourceFile is SOURCE 'file', which is the shell's own.
type SourceFile struct {
	Pos
	File *Literal
}

// Quit is QUIT or EXIT.
type Quit struct{ Pos }

// Clear is CLEAR.
type Clear struct{ Pos }

func (*Set) statement()           {}
func (*Set) Form() string         { return "SET" }
func (*Reset) statement()         {}
func (*Reset) Form() string       { return "RESET" }
func (*ShowJobs) statement()      {}
func (*ShowJobs) Form() string    { return "SHOW JOBS" }
func (*DescribeJob) statement()   {}
func (*DescribeJob) Form() string { return "DESCRIBE JOB" }
func (*StopJob) statement()       {}
func (*StopJob) Form() string     { return "STOP JOB" }
func (*SourceFile) statement()    {}
func (*SourceFile) Form() string  { return "SOURCE" }
func (*Help) statement()          {}
func (*Help) Form() string        { return "HELP" }
func (*Quit) statement()          {}
func (*Quit) Form() string        { return "QUIT" }
func (*Clear) statement()         {}
func (*Clear) Form() string       { return "CLEAR" }

// set: SET ['key' [= 'value']]
func (p *parser) set(start int) Statement {
	s := &Set{}
	p.expect("SET")
	switch p.tok.kind {
	case tokEOF:
	case tokOp:
		if !p.isOp(";") {
			p.unexpected("a key in single quotes")
		}
	case tokString, tokUnicode:
		s.Key = p.stringLiteral("")
		if p.acceptOp("=") {
			s.Value = p.settingValue()
		}
	default:
		p.unquotedKey("write SET 'key' = 'value'")
	}
	s.Pos = p.pos(start)
	return s
}

// reset: RESET ['key']
func (p *parser) reset(start int) Statement {
	s := &Reset{}
	p.expect("RESET")
	if p.tok.kind == tokString || p.tok.kind == tokUnicode {
		s.Key = p.stringLiteral("")
	} else if p.tok.kind == tokWord {
		p.unquotedKey("write RESET 'key'")
	}
	s.Pos = p.pos(start)
	return s
}

func (p *parser) unquotedKey(hint string) {
	if p.err == nil {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected a key in single quotes", hint)
	}
}

func (p *parser) settingValue() *Literal {
	if p.tok.kind != tokString && p.tok.kind != tokUnicode && p.err == nil {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected a value in single quotes", "write SET 'key' = 'value'")
	}
	return p.stringLiteral("a value in single quotes")
}

func (p *parser) showJobs(start int) Statement {
	p.expect("SHOW", "JOBS")
	return &ShowJobs{p.pos(start)}
}

// describeJob: {DESCRIBE|DESC} JOB 'id'
func (p *parser) describeJob(start int) Statement {
	s := &DescribeJob{}
	p.next()
	p.expect("JOB")
	s.ID = p.stringLiteral("a job's id in single quotes")
	s.Pos = p.pos(start)
	return s
}

// stopJob: STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]
func (p *parser) stopJob(start int) Statement {
	s := &StopJob{}
	p.expect("STOP", "JOB")
	s.ID = p.stringLiteral("a job's id in single quotes")
	for p.isWord("WITH") {
		at := p.tok.start
		p.next()
		what := &s.Savepoint
		switch {
		case p.isWord("SAVEPOINT"):
		case p.isWord("DRAIN"):
			what = &s.Drain
		default:
			p.unexpected("SAVEPOINT or DRAIN")
			return s
		}
		if *what != (Span{}) {
			p.failAt(p.tok.span(), "WITH "+p.tok.kw+" is there already", "")
			return s
		}
		p.next()
		*what = p.pos(at).Span()
	}
	if s.Drain != (Span{}) && s.Savepoint == (Span{}) {
		p.failAt(s.Drain, "WITH DRAIN could only be used after WITH SAVEPOINT", "")
	}
	s.Pos = p.pos(start)
	return s
}

// help: HELP [topic]
func (p *parser) help(start int) Statement {
	s := &Help{}
	p.next()
	at := p.tok.start
	for p.tok.kind != tokEOF && !p.isOp(";") {
		p.next()
		s.TopicSpan = p.pos(at).Span()
	}
	s.Topic = p.lex.src[s.TopicSpan.Start:s.TopicSpan.End]
	s.Pos = p.pos(start)
	return s
}

// source: SOURCE 'file'
func (p *parser) source(start int) Statement {
	s := &SourceFile{}
	p.next()
	if p.tok.kind == tokWord {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected a file's name in single quotes", "write SOURCE 'file.sql'")
	}
	s.File = p.stringLiteral("a file's name in single quotes")
	s.Pos = p.pos(start)
	return s
}

func (p *parser) quit(start int) Statement {
	p.next()
	return &Quit{p.pos(start)}
}

func (p *parser) clear(start int) Statement {
	p.next()
	return &Clear{p.pos(start)}
}

func (s *Set) print(p *printer) {
	p.str("SET")
	if s.Key != nil {
		p.str(" ")
		s.Key.print(p)
	}
	if s.Value != nil {
		p.str(" = ")
		s.Value.print(p)
	}
}

func (s *Reset) print(p *printer) {
	p.str("RESET")
	if s.Key != nil {
		p.str(" ")
		s.Key.print(p)
	}
}

func (*ShowJobs) print(p *printer) { p.str("SHOW JOBS") }

func (s *DescribeJob) print(p *printer) {
	p.str("DESCRIBE JOB ")
	s.ID.print(p)
}

func (s *StopJob) print(p *printer) {
	p.str("STOP JOB ")
	s.ID.print(p)
	p.opt(s.Savepoint != (Span{}), " WITH SAVEPOINT")
	p.opt(s.Drain != (Span{}), " WITH DRAIN")
}

func (s *Help) print(p *printer) {
	p.str("HELP")
	p.opt(s.Topic != "", " "+s.Topic)
}

func (s *SourceFile) print(p *printer) {
	p.str("SOURCE ")
	s.File.print(p)
}

func (*Quit) print(p *printer)  { p.str("QUIT") }
func (*Clear) print(p *printer) { p.str("CLEAR") }

func (*Set) children(func(Node))         {}
func (*Reset) children(func(Node))       {}
func (*ShowJobs) children(func(Node))    {}
func (*DescribeJob) children(func(Node)) {}
func (*StopJob) children(func(Node))     {}
func (*Help) children(func(Node))        {}
func (*SourceFile) children(func(Node))  {}
func (*Quit) children(func(Node))        {}
func (*Clear) children(func(Node))       {}
