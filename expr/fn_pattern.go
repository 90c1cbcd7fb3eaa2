package expr

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func patternFunctions() []Function {
	str, intType := types.String(), types.Of(types.Int)
	return []Function{
		{
			Name: "LIKE", Group: "comparison", Syntax: "string LIKE pattern [ESCAPE character]",
			Doc:     "TRUE when the whole text fits the pattern, in which _ is any character and % any text.",
			Example: "'banana' LIKE 'b%n_'", Result: "TRUE", Min: 2, Max: 3, Hidden: true, Fallible: true,
			Bind: takes(returns(types.Of(types.Boolean)), text),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				match, err := likeMatcher(c)
				if err != nil {
					return nil, err
				}
				return func(r Rows, args []Arg, out *column.Vector) error {
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						ok, err := match(args, i)
						if err != nil {
							return located(err, i)
						}
						out.Bool[i] = ok
					}
					return nil
				}, nil
			},
			Select:  likeSelect,
			MayFail: func(c *Call) bool { p, _, err := constLike(c); return p == nil || err != nil },
		},
		{
			Name: "SIMILAR TO", Group: "comparison", Syntax: "string SIMILAR TO pattern [ESCAPE character]",
			Doc:     "TRUE when the whole text fits the pattern: % and _ as in LIKE, and | * + ? {m,n} ( ) [ ] as in regular expressions.",
			Example: "'banana' SIMILAR TO 'b(an)+a'", Result: "TRUE", Min: 2, Max: 3, Hidden: true, Fallible: true,
			Bind: takes(returns(types.Of(types.Boolean)), text),
			Kernel: func(*Call, *Env) (Step, error) {
				var re *regexp.Regexp
				var last string
				var lastEscape rune
				return stepOf(boolOf(func(a []Arg, i int) (bool, error) {
					escape := rune(-1)
					if len(a) == 3 {
						var err error
						if escape, err = escapeOf(a[2].text(i)); err != nil {
							return false, err
						}
					}
					if p := a[1].text(i); re == nil || escape != lastEscape || string(p) != last {
						next, err := compileSimilar(string(p), escape)
						if err != nil {
							return false, err
						}
						re, last, lastEscape = next, string(p), escape
					}
					return re.Match(a[0].text(i)), nil
				}))
			},
		},
		{
			Name: "REGEXP", Group: "string", Syntax: "REGEXP(string, regex)", Doc: "TRUE when a part of the text fits the regular expression (RE2: no back-references, no look-around).",
			Example: "REGEXP('abc123', '[0-9]+')", Result: "TRUE", Min: 2, Max: 2, Fallible: true, MayFail: regexMayFail,
			Bind: takes(returns(types.Of(types.Boolean)), text),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				re, err := regexOf(c, 1)
				if err != nil {
					return nil, err
				}
				return stepOf(boolOf(func(a []Arg, i int) (bool, error) {
					re, err := re(a, i)
					if err != nil {
						return false, err
					}
					return re.Match(a[0].text(i)), nil
				}))
			},
		},
		{
			Name: "REGEXP_REPLACE", Group: "string", Syntax: "REGEXP_REPLACE(string, regex, replacement)",
			Doc:     "The text with every match of the regular expression replaced by the text of the replacement as it is.",
			Example: "REGEXP_REPLACE('foobar', 'oo|ar', '')", Result: "fb", Min: 3, Max: 3, Fallible: true, MayFail: regexMayFail, Bind: takes(returns(str), text),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				re, err := regexOf(c, 1)
				if err != nil {
					return nil, err
				}
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					re, err := re(a, i)
					if err != nil {
						return nil, err
					}
					return replaceRegex(dst, re, a[0].text(i), a[2].text(i)), nil
				}), nil
			},
		},
		{
			Name: "REGEXP_EXTRACT", Group: "string", Syntax: "REGEXP_EXTRACT(string, regex [, group])",
			Doc:     "The first match of the regular expression, or a group of it; NULL when there is none.",
			Example: "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)", Result: "bar", Min: 2, Max: 3, Nulls: NullsMade, Fallible: true, MayFail: regexMayFail,
			Bind: takes(returns(str), text, text, integer),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				re, err := regexOf(c, 1)
				if err != nil {
					return nil, err
				}
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					re, err := re(a, i)
					if err != nil {
						return nil, err
					}
					group := int64(0)
					if len(a) == 3 {
						group = a[2].int(i)
					}
					x := a[0].text(i)
					m := re.FindSubmatchIndex(x)
					if m == nil || group < 0 || group > int64(re.NumSubexp()) || m[2*group] < 0 {
						return nil, errNull
					}
					return append(dst, x[m[2*group]:m[2*group+1]]...), nil
				}), nil
			},
		},
		{
			Name: "REGEXP_SUBSTR", Group: "string", Syntax: "REGEXP_SUBSTR(string, regex)", Doc: "The first match of the regular expression; NULL when there is none.",
			Example: "REGEXP_SUBSTR('ab12', '[0-9]+')", Result: "12", Min: 2, Max: 2, Nulls: NullsMade, Fallible: true, MayFail: regexMayFail, Bind: takes(returns(str), text),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				re, err := regexOf(c, 1)
				if err != nil {
					return nil, err
				}
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					re, err := re(a, i)
					if err != nil {
						return nil, err
					}
					x := a[0].text(i)
					m := re.FindIndex(x)
					if m == nil {
						return nil, errNull
					}
					return append(dst, x[m[0]:m[1]]...), nil
				}), nil
			},
		},
		{
			Name: "REGEXP_COUNT", Group: "string", Syntax: "REGEXP_COUNT(string, regex)", Doc: "How often the regular expression matches.",
			Example: "REGEXP_COUNT('a1b22', '[0-9]+')", Result: "2", Min: 2, Max: 2, Fallible: true, MayFail: regexMayFail, Bind: takes(returns(intType), text),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				re, err := regexOf(c, 1)
				if err != nil {
					return nil, err
				}
				return intStepOf(func(a []Arg, i int) (int64, error) {
					re, err := re(a, i)
					if err != nil {
						return 0, err
					}
					return int64(len(re.FindAllIndex(a[0].text(i), -1))), nil
				}), nil
			},
		},
		{
			Name: "REGEXP_INSTR", Group: "string", Syntax: "REGEXP_INSTR(string, regex)", Doc: "Where the regular expression first matches, from 1; 0 when it does not.",
			Example: "REGEXP_INSTR('ab12', '[0-9]+')", Result: "3", Min: 2, Max: 2, Fallible: true, MayFail: regexMayFail, Bind: takes(returns(intType), text),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				re, err := regexOf(c, 1)
				if err != nil {
					return nil, err
				}
				return intStepOf(func(a []Arg, i int) (int64, error) {
					re, err := re(a, i)
					if err != nil {
						return 0, err
					}
					x := a[0].text(i)
					m := re.FindIndex(x)
					if m == nil {
						return 0, nil
					}
					return int64(utf8.RuneCount(x[:m[0]])) + 1, nil
				}), nil
			},
		},
	}
}

func stepOf(k Kernel) (Step, error) { return k(nil, nil) }

// constLike compiles the pattern of a LIKE whose pattern and escape are constant; nil when they are not.
func constLike(c *Call) (p *likePattern, escape rune, err error) {
	escape = -1
	if len(c.Args) == 3 {
		s, ok := constText(c.Args[2])
		if !ok {
			return nil, 0, nil
		}
		if escape, err = escapeOf([]byte(s)); err != nil {
			return nil, 0, err
		}
	}
	s, ok := constText(c.Args[1])
	if !ok {
		return nil, escape, nil
	}
	p, err = compileLike([]byte(s), escape)
	return p, escape, err
}

func escapeOf(b []byte) (rune, error) {
	c, n := utf8.DecodeRune(b)
	if n == 0 || n != len(b) {
		return 0, failure("LIKE: the escape must be one character, not '"+shorten(b)+"'", "")
	}
	return c, nil
}

// likeMatcher returns a test of one row. A pattern that is not constant is compiled when it changes.
func likeMatcher(c *Call) (func(a []Arg, i int) (bool, error), error) {
	p, _, err := constLike(c)
	if err != nil {
		return nil, err
	}
	if p != nil {
		return func(a []Arg, i int) (bool, error) { return p.match(a[0].text(i)), nil }, nil
	}
	var last []byte
	var lastEscape rune
	return func(a []Arg, i int) (bool, error) {
		escape := rune(-1)
		if len(a) == 3 {
			var err error
			if escape, err = escapeOf(a[2].text(i)); err != nil {
				return false, err
			}
		}
		if pat := a[1].text(i); p == nil || escape != lastEscape || string(pat) != string(last) {
			q, err := compileLike(pat, escape)
			if err != nil {
				return false, err
			}
			p, last, lastEscape = q, append(last[:0], pat...), escape
		}
		return p.match(a[0].text(i)), nil
	}, nil
}

func likeSelect(c *Call, _ *Env) SelectStep {
	p, _, err := constLike(c)
	if p == nil || err != nil {
		return nil
	}
	return func(r Rows, args []Arg, buf []uint16) ([]uint16, error) {
		x, j := args[0], 0
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			buf[j] = uint16(i)
			if !x.null(i) && p.match(x.text(i)) {
				j++
			}
		}
		return buf[:j], nil
	}
}

func regexMayFail(c *Call) bool {
	s, ok := constText(c.Args[1])
	if !ok {
		return true
	}
	_, err := compileRegex([]byte(s))
	return err != nil
}

// regexOf returns the compiled regular expression of a row: compiled once when it is constant, else when
// it changes.
func regexOf(c *Call, arg int) (func(a []Arg, i int) (*regexp.Regexp, error), error) {
	if s, ok := constText(c.Args[arg]); ok {
		re, err := compileRegex([]byte(s))
		if err != nil {
			return nil, err
		}
		return func([]Arg, int) (*regexp.Regexp, error) { return re, nil }, nil
	}
	var last *regexp.Regexp
	return func(a []Arg, i int) (*regexp.Regexp, error) {
		if b := a[arg].text(i); last == nil || last.String() != string(b) {
			re, err := compileRegex(b)
			if err != nil {
				return nil, err
			}
			last = re
		}
		return last, nil
	}, nil
}

func compileRegex(b []byte) (*regexp.Regexp, error) {
	re, err := regexp.Compile(string(b))
	if err != nil {
		msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, failure("regular expression '"+shorten(b)+"': "+msg, "back-references and look-around do not exist here")
	}
	return re, nil
}

// replaceRegex replaces every match.
func replaceRegex(dst []byte, re *regexp.Regexp, x, repl []byte) []byte {
	last := 0
	for _, m := range re.FindAllIndex(x, -1) {
		dst = append(append(dst, x[last:m[0]]...), repl...)
		last = m[1]
	}
	return append(dst, x[last:]...)
}
