package expr

import (
	"regexp"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// splitFunctions take a text apart by regular expressions.
func splitFunctions() []Function {
	str := types.String().AsNotNull()
	return []Function{
		{
			Name: "REGEXP_EXTRACT_ALL", Group: "string", Syntax: "REGEXP_EXTRACT_ALL(string, regex [, group])",
			Doc:     "What a group, 1 unless given, is in each match of the regular expression; 0 is the whole match.",
			Example: "REGEXP_EXTRACT_ALL('a1b22', '([0-9]+)')", Result: "[1, 22]", Min: 2, Max: 3, Nulls: NullsMade, Fallible: true, MayFail: regexMayFail,
			Bind: takes(returns(types.ArrayOf(types.String())), text, text, integer),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				re, err := regexOf(c, 1)
				if err != nil {
					return nil, err
				}
				return nestedStep(func(out *column.Vector, a []Arg, i int) error {
					re, err := re(a, i)
					if err != nil {
						return err
					}
					group := int64(1)
					if len(a) == 3 {
						group = a[2].int(i)
					}
					if group < 0 || group > int64(re.NumSubexp()) {
						out.AppendNull()
						return nil
					}
					x := a[0].text(i)
					for _, m := range re.FindAllSubmatchIndex(x, -1) {
						if m[2*group] < 0 {
							out.Children[0].AppendNull()
						} else {
							out.Children[0].AppendBytes(x[m[2*group]:m[2*group+1]])
						}
					}
					out.EndRow()
					return nil
				}), nil
			},
		},
		{
			Name: "STR_TO_MAP", Group: "string", Syntax: "STR_TO_MAP(string [, entry_delimiter, key_delimiter])",
			Doc:     "The map that the text writes: entries between the first delimiter, keys and values at the second. Both are regular expressions, ',' and '=' unless given.",
			Example: "STR_TO_MAP('k1=v1,k2=v2')", Result: "{k1=v1, k2=v2}", Min: 1, Max: 3, Fallible: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				if len(args) == 2 {
					return nil, types.Type{}, errMismatch
				}
				return takes(returns(types.MapOf(str, types.String())), text)(args)
			},
			MayFail: func(c *Call) bool { return len(c.Args) == 3 && !(isConstRegex(c.Args[1]) && isConstRegex(c.Args[2])) },
			Kernel: func(c *Call, _ *Env) (Step, error) {
				given := func(k int, otherwise string) (func([]Arg, int) (*regexp.Regexp, error), error) {
					if k < len(c.Args) {
						return regexOf(c, k)
					}
					re := regexp.MustCompile(otherwise)
					return func([]Arg, int) (*regexp.Regexp, error) { return re, nil }, nil
				}
				entry, err := given(1, ",")
				if err != nil {
					return nil, err
				}
				key, err := given(2, "=")
				if err != nil {
					return nil, err
				}
				// The keys and values of a row.
				one := []*column.Vector{column.New(str, 1), column.New(types.String(), 1)}
				return nestedStep(func(out *column.Vector, a []Arg, i int) error {
					entry, err := entry(a, i)
					if err != nil {
						return err
					}
					key, err := key(a, i)
					if err != nil {
						return err
					}
					b := newEntries(out)
					one[0].Reset()
					one[1].Reset()
					put := func(piece []byte) {
						if m := key.FindIndex(piece); m != nil {
							one[0].AppendBytes(piece[:m[0]])
							one[1].AppendBytes(piece[m[1]:])
						} else {
							one[0].AppendBytes(piece)
							one[1].AppendNull()
						}
						b.put(one[0], one[0].Len-1, one[1], one[1].Len-1)
					}
					x, from := a[0].text(i), 0
					if len(x) == 0 {
						out.EndRow()
						return nil
					}
					for _, m := range entry.FindAllIndex(x, -1) {
						put(x[from:m[0]])
						from = m[1]
					}
					put(x[from:])
					b.end(out)
					return nil
				}), nil
			},
		},
	}
}

// isConstRegex reports whether e is a constant that reads as a regular expression.
func isConstRegex(e Expr) bool {
	s, ok := constText(e)
	if !ok {
		return false
	}
	_, err := compileRegex([]byte(s))
	return err == nil
}
