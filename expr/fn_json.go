package expr

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func jsonFunctions() []Function {
	str := types.String()
	is := func(what, doc, example string, first string) Function {
		return Function{
			Name: "IS JSON " + what, Group: "json", Syntax: "string IS [NOT] JSON " + what, Doc: doc,
			Example: example, Result: "TRUE", Min: 1, Max: 1, Hidden: true,
			Bind: takes(returns(types.Of(types.Boolean)), text),
			Kernel: func(*Call, *Env) (Step, error) {
				var d jsonDoc
				return stepOf(boolOf(func(a []Arg, i int) (bool, error) {
					b := a[0].text(i)
					rest := bytes.TrimLeft(b, " \t\r\n")
					return len(rest) > 0 && (first == "" || strings.IndexByte(first, rest[0]) >= 0) && validJSON(b) && !d.tooDeep(b), nil
				}))
			},
		}
	}
	return []Function{
		is("VALUE", "TRUE when the text is JSON: an object, an array, a string, a number, true, false or null. VALUE may be left out.", `'{"a": 1}' IS JSON VALUE`, ""),
		is("OBJECT", "TRUE when the text is a JSON object.", `'{"a": 1}' IS JSON OBJECT`, "{"),
		is("ARRAY", "TRUE when the text is a JSON array.", `'[1, 2]' IS JSON ARRAY`, "["),
		is("SCALAR", "TRUE when the text is a JSON string or number, true, false or null.", `'"a"' IS JSON SCALAR`, `"-0123456789tfn`),
		{
			Name: "JSON_EXISTS", Group: "json", Syntax: "JSON_EXISTS(string, path [{TRUE | FALSE | UNKNOWN | ERROR} ON ERROR])",
			Doc: "TRUE when the path leads to a value that is not null in the JSON text. A path is strict, unless it begins with lax: it fails where a step is missing. " +
				"A path with *, .., a list of positions or a condition gives an array, which exists even when it is empty.",
			Example: `JSON_EXISTS('{"a": {"b": 1}}', '$.a.b')`, Result: "TRUE", Min: 2, Max: 3, Nulls: NullsMade, Fallible: true, MayFail: jsonMayFail,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				params, err := bindJSONPath(args)
				if err == nil {
					_, err = clausesOf("JSON_EXISTS", args)
				}
				return params, types.Of(types.Boolean), err
			},
			Kernel: jsonExistsKernel,
		},
		{
			Name: "JSON_VALUE", Group: "json", Syntax: "JSON_VALUE(string, path [RETURNING type] [{NULL | ERROR | DEFAULT value} ON EMPTY] [{NULL | ERROR | DEFAULT value} ON ERROR])",
			Doc: "The scalar at the path in the JSON text, as STRING, BOOLEAN or a number. A lax path that leads nowhere, or to null, an array or an object, is empty; " +
				"with a strict path, the default, that is an error, as is a value that the type does not hold. NULL unless the clauses say otherwise.",
			Example: `JSON_VALUE('{"a": {"b": "x"}}', '$.a.b')`, Result: "x", Min: 2, Max: 5, Nulls: NullsOwn, Fallible: true, MayFail: jsonMayFail,
			Bind: bindJSONValue, Kernel: jsonValueKernel,
		},
		{
			Name: "JSON_QUERY", Group: "json",
			Syntax: "JSON_QUERY(string, path [RETURNING type] [{WITHOUT | WITH [CONDITIONAL | UNCONDITIONAL]} [ARRAY] WRAPPER] " +
				"[{NULL | ERROR | EMPTY ARRAY | EMPTY OBJECT} ON EMPTY] [{NULL | ERROR | EMPTY ARRAY | EMPTY OBJECT} ON ERROR])",
			Doc: "The array or object at the path in the JSON text, as JSON without blanks whose members go by name, or as an ARRAY of STRING, BOOLEAN or numbers. " +
				"WITH WRAPPER puts the value into an array, WITH CONDITIONAL WRAPPER only one that is no array.",
			Example: `JSON_QUERY('{"a": {"c": 1, "b": [2, 3]}}', '$.a')`, Result: `{"b":[2,3],"c":1}`, Min: 2, Max: 3, Nulls: NullsMade, Fallible: true, MayFail: jsonMayFail,
			Bind: bindJSONQuery, Kernel: jsonQueryKernel,
		},
		{
			Name: "JSON_LENGTH", Group: "json", Syntax: "JSON_LENGTH(string [, path])",
			Doc: "How many elements an array, or members an object, at the path in the JSON text has; 1 for a scalar. Without a path it is the whole text's. " +
				"NULL where the path does not lead to one value, or the text is not JSON.",
			Example: `JSON_LENGTH('{"a": [1, 2, 3]}', '$.a')`, Result: "3", Min: 1, Max: 2, Nulls: NullsMade,
			Bind: bindJSONProperty("JSON_LENGTH", types.Of(types.Int)),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				find := jsonPropertyOf(c)
				return stepOf(intOf(func(a []Arg, i int) (int64, error) {
					switch it, ok := find(a, i); {
					case !ok:
						return 0, errNull
					case it.doc.scalar(it.at):
						return 1, nil
					default:
						return int64(it.doc.members(it.at)), nil
					}
				}))
			},
		},
		{
			Name: "JSON_TYPE", Group: "json", Syntax: "JSON_TYPE(string [, path])",
			Doc: "What the value at the path in the JSON text is: object, array, string, number, boolean or null. Without a path it is the whole text's. " +
				"NULL where the path does not lead to one value, or the text is not JSON.",
			Example: `JSON_TYPE('{"a": [1, 2, 3]}', '$.a')`, Result: "array", Min: 1, Max: 2, Nulls: NullsMade,
			Bind: bindJSONProperty("JSON_TYPE", str),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				find := jsonPropertyOf(c)
				return stepOf(textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
					it, ok := find(a, i)
					if !ok {
						return nil, errNull
					}
					name := "number"
					switch it.kind() {
					case '{':
						name = "object"
					case '[':
						name = "array"
					case '"':
						name = "string"
					case 't', 'f':
						name = "boolean"
					case 'n':
						name = "null"
					}
					return append(dst, name...), nil
				}))
			},
		},
		{
			Name: "JSON_STRING", Group: "json", Syntax: "JSON_STRING(value)",
			Doc:     "The value as JSON. ROW, MAP and MULTISET become objects whose members go by name; a time is a string as in ISO 8601, a binary value one in base64.",
			Example: "JSON_STRING(ARRAY[1, 2])", Result: "[1,2]", Min: 1, Max: 1, Fallible: true,
			MayFail: func(c *Call) bool { return hasMapKeys(c.Args[0].Type()) },
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t, _ := anyType(args[0].Type())
				return []types.Type{t}, str, checkJSONType(t)
			},
			Kernel: func(c *Call, _ *Env) (Step, error) {
				write := jsonWriterOf(c.Args[0].Type())
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) { return write(dst, a[0].Vector, a[0].At(i)) }), nil
			},
		},
		{
			Name: "JSON_OBJECT", Group: "json", Syntax: "JSON_OBJECT([[KEY] key VALUE value, …] [{NULL | ABSENT} ON NULL])",
			Doc: "A JSON object of the keys, which are text literals, and the values. Its members go by name; of equal keys the last one counts. " +
				"A value that is JSON_OBJECT(…), JSON_ARRAY(…) or JSON(…) is put in as it is, another text as a string. With ABSENT ON NULL a member whose value is NULL is left out.",
			Example: "JSON_OBJECT(KEY 'a' VALUE 1, KEY 'b' VALUE NULL)", Result: `{"a":1,"b":null}`, Min: 1, Max: -1, Nulls: NullsOwn, Fallible: true, MayFail: jsonPartsMayFail,
			Bind: bindJSONObject, Kernel: jsonObjectKernel,
		},
		{
			Name: "JSON_ARRAY", Group: "json", Syntax: "JSON_ARRAY([value, …] [{NULL | ABSENT} ON NULL])",
			Doc: "A JSON array of the values. A value that is JSON_OBJECT(…), JSON_ARRAY(…) or JSON(…) is put in as it is, another text as a string. " +
				"NULLs are left out, unless NULL ON NULL is there.",
			Example: "JSON_ARRAY(1, 'a', NULL, TRUE)", Result: `[1,"a",true]`, Min: 1, Max: -1, Nulls: NullsOwn, Fallible: true, MayFail: jsonPartsMayFail,
			Bind: bindJSONArray, Kernel: jsonArrayKernel,
		},
		{
			Name: "JSON", Group: "json", Syntax: "JSON(string)",
			Doc:     "Within JSON_OBJECT and JSON_ARRAY: a JSON text that is put in as it is. A text of blanks is NULL, one that is not JSON an error.",
			Example: `JSON_ARRAY(JSON('{"a": 1}'))`, Result: `[{"a":1}]`, Min: 1, Max: 1, Nulls: NullsMade, Fallible: true,
			Bind: takes(returns(str), text),
			Kernel: func(*Call, *Env) (Step, error) {
				var d jsonDoc
				var w jsonWriter
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					b := a[0].text(i)
					if len(bytes.TrimSpace(b)) == 0 {
						return nil, errNull
					}
					if err := d.parse(b); err != nil {
						return nil, failure("Invalid JSON string in JSON(value) function: \""+shorten(b)+"\": "+err.Error(), "IS JSON tells which texts are JSON")
					}
					return w.append(dst, &d, 0), nil
				}), nil
			},
		},
		{
			Name: "JSON_QUOTE", Group: "json", Syntax: "JSON_QUOTE(string)",
			Doc:     "The text as a JSON string: in double quotes, with escapes for quotes, backslashes, slashes, control characters and all that is not ASCII.",
			Example: `JSON_QUOTE('a/"b"')`, Result: `"a\/\"b\""`, Min: 1, Max: 1, Bind: takes(returns(str), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) { return appendQuoted(dst, a[0].text(i)), nil }),
		},
		{
			Name: "JSON_UNQUOTE", Group: "json", Syntax: "JSON_UNQUOTE(string)",
			Doc:     "The characters of a JSON string, its quotes and escapes taken away; any other text as it is.",
			Example: `JSON_UNQUOTE('"a\tb"')`, Result: "a\tb", Min: 1, Max: 1, Bind: takes(returns(str), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) { return appendUnquoted(dst, a[0].text(i)), nil }),
		},
	}
}

// bindJSONProperty is the Bind of a function of a JSON text and a path, a literal without lax and strict.
func bindJSONProperty(name string, result types.Type) func([]Expr) ([]types.Type, types.Type, error) {
	return func(args []Expr) ([]types.Type, types.Type, error) {
		params := typesOf(args)
		for i := range args {
			t, ok := text(args[i].Type())
			if !ok {
				return nil, result, errMismatch
			}
			params[i] = t
		}
		if len(args) < 2 || isNullLiteral(args[1]) {
			return params, result, nil
		}
		s, ok := constText(args[1])
		p, err := compileJSONPath(s)
		switch at := args[1].Span(); {
		case !ok:
			return nil, result, &Error{Span: at, Row: -1, Msg: "the path of " + name + " must be a text literal", Hint: "JSON_QUERY takes paths of rows"}
		case err != nil:
			return nil, result, &Error{Span: at, Row: -1, Msg: err.Error(), Hint: jsonPathHint}
		case p.moded:
			return nil, result, &Error{Span: at, Row: -1, Msg: name + " does not support the 'lax'/'strict' path mode prefix",
				Hint: "write a plain path such as '$.a.b'; JSON_EXISTS tells whether it leads somewhere"}
		}
		return params, result, nil
	}
}

// jsonPropertyOf returns what finds the one value that such a function is about.
func jsonPropertyOf(c *Call) func(a []Arg, i int) (jsonItem, bool) {
	path := &jsonPath{definite: true}
	if len(c.Args) > 1 {
		s, _ := constText(c.Args[1])
		if p, err := compileJSONPath(s); err == nil { // NULL is the one literal that is none, and never asked
			path = p
		}
	}
	var d jsonDoc
	var ev jsonEval
	return func(a []Arg, i int) (it jsonItem, ok bool) {
		if d.parse(a[0].text(i)) != nil {
			return it, false
		}
		if ev.run(path, &d); ev.why != jsonFound || len(ev.found) != 1 {
			return it, false
		}
		return ev.found[0], true
	}
}

// jsonMayFail reports whether a call of JSON_EXISTS, JSON_VALUE or JSON_QUERY has a clause that makes errors.
func jsonMayFail(c *Call) bool {
	clauses, err := clausesOf(c.Func.Name, c.Args)
	return err != nil || clauses.OnEmpty == "ERROR" || clauses.OnError == "ERROR"
}

// hasMapKeys reports whether a type has maps or multisets, of which a key may be NULL.
func hasMapKeys(t types.Type) bool {
	if (t.Kind == types.Map || t.Kind == types.Multiset) && !t.Fields[0].Type.NotNull {
		return true
	}
	for _, f := range t.Fields {
		if hasMapKeys(f.Type) {
			return true
		}
	}
	return false
}

// JSONPart is a value that JSON_OBJECT or JSON_ARRAY puts together.
type JSONPart struct {
	Key   Expr // of JSON_OBJECT: a text literal
	Value Expr
	Raw   bool // the value is JSON: JSON_OBJECT(…), JSON_ARRAY(…) or JSON(…)
}

// NewJSONConstructor makes a call of JSON_OBJECT or JSON_ARRAY; absent says that NULLs are left out. Its
// first argument is a literal: NULL or ABSENT and, after a blank, v or r for each value.
func NewJSONConstructor(name string, parts []JSONPart, absent bool, at Span) (Expr, error) {
	form := "NULL "
	if absent {
		form = "ABSENT "
	}
	var args []Expr
	for _, p := range parts {
		if p.Raw {
			form += "r"
		} else {
			form += "v"
		}
		if name == "JSON_OBJECT" {
			args = append(args, p.Key)
		}
		args = append(args, p.Value)
	}
	lit := NewLiteral(types.WithPrecision(types.Char, len(form)), form, at)
	return NewCall(name, append([]Expr{lit}, args...), at)
}

// jsonForm reads the first argument of a constructor; each value has so many arguments.
func jsonForm(args []Expr, each int) (absent bool, raw string, err error) {
	s, ok := constText(args[0])
	how, raw, found := strings.Cut(s, " ")
	if !ok || !found || how != "NULL" && how != "ABSENT" || len(args)-1 != each*len(raw) || strings.Trim(raw, "rv") != "" {
		return false, "", errMismatch
	}
	return how == "ABSENT", raw, nil
}

func bindJSONPart(e Expr, raw byte) (types.Type, error) {
	t, _ := anyType(e.Type())
	if raw == 'r' {
		if !t.IsString() {
			return t, errMismatch
		}
		return t, nil
	}
	if err := checkJSONType(t); err != nil {
		return t, &Error{Span: e.Span(), Row: -1, Msg: err.Error()}
	}
	return t, nil
}

func bindJSONObject(args []Expr) ([]types.Type, types.Type, error) {
	result := types.String().AsNotNull()
	_, raw, err := jsonForm(args, 2)
	if err != nil {
		return nil, result, err
	}
	params := typesOf(args)
	for k := range len(raw) {
		key := args[2*k+1]
		if _, ok := constText(key); !ok {
			return nil, result, &Error{Span: key.Span(), Row: -1, Msg: "a key of JSON_OBJECT must be a text literal",
				Hint: "JSON_OBJECTAGG(KEY key VALUE value) takes keys of rows, JSON_STRING(MAP[key, value]) any key"}
		}
		if params[2*k+2], err = bindJSONPart(args[2*k+2], raw[k]); err != nil {
			return nil, result, err
		}
	}
	return params, result, nil
}

func bindJSONArray(args []Expr) ([]types.Type, types.Type, error) {
	result := types.String().AsNotNull()
	_, raw, err := jsonForm(args, 1)
	if err != nil {
		return nil, result, err
	}
	params := typesOf(args)
	for k := range len(raw) {
		if params[k+1], err = bindJSONPart(args[k+1], raw[k]); err != nil {
			return nil, result, err
		}
	}
	return params, result, nil
}

func jsonPartsMayFail(c *Call) bool {
	for _, a := range c.Args[1:] {
		if hasMapKeys(a.Type()) {
			return true
		}
	}
	return false
}

// jsonPart is a value of a constructor, ready to be written.
type jsonPart struct {
	key   []byte // of JSON_OBJECT
	arg   int
	write jsonOf
}

func jsonPartOf(c *Call, arg int, raw byte) jsonPart {
	if raw == 'r' {
		return jsonPart{arg: arg, write: func(dst []byte, v *column.Vector, i int) ([]byte, error) { return append(dst, v.Value(i)...), nil }}
	}
	return jsonPart{arg: arg, write: jsonWriterOf(c.Args[arg].Type())}
}

func jsonObjectKernel(c *Call, _ *Env) (Step, error) {
	absent, raw, err := jsonForm(c.Args, 2)
	if err != nil {
		return nil, err
	}
	parts := make([]jsonPart, 0, len(raw))
	for k := range len(raw) {
		p := jsonPartOf(c, 2*k+2, raw[k])
		key, ok := constText(c.Args[2*k+1])
		if !ok {
			return nil, failure("a key of JSON_OBJECT must be a text literal", "it must be none of the keys of GROUP BY either")
		}
		p.key = []byte(key)
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b jsonPart) int { return compareUTF16(a.key, b.key) })
	return jsonPartsStep(parts, absent, '{', '}'), nil
}

func jsonArrayKernel(c *Call, _ *Env) (Step, error) {
	absent, raw, err := jsonForm(c.Args, 1)
	if err != nil {
		return nil, err
	}
	parts := make([]jsonPart, 0, len(raw))
	for k := range len(raw) {
		parts = append(parts, jsonPartOf(c, k+1, raw[k]))
	}
	return jsonPartsStep(parts, absent, '[', ']'), nil
}

// jsonPartsStep writes an array, or an object whose keys are in order.
func jsonPartsStep(parts []jsonPart, absent bool, open, end byte) Step {
	names := make([][]byte, len(parts))
	for k, p := range parts {
		if open == '{' {
			names[k] = append(appendJSONString(nil, p.key), ':')
		}
	}
	return textStep(func(dst []byte, a []Arg, i int) (_ []byte, err error) {
		dst = append(dst, open)
		first := len(dst)
		for k, p := range parts {
			x := a[p.arg]
			null := x.null(i)
			// Of equal keys the last one counts; one that is left out does not hide the one before it.
			hidden := false
			for q := k + 1; open == '{' && q < len(parts) && bytes.Equal(parts[q].key, p.key); q++ {
				hidden = hidden || !absent || !a[parts[q].arg].null(i)
			}
			if null && absent || hidden {
				continue
			}
			if len(dst) > first {
				dst = append(dst, ',')
			}
			dst = append(dst, names[k]...)
			if null {
				dst = append(dst, "null"...)
			} else if dst, err = p.write(dst, x.Vector, x.At(i)); err != nil {
				return nil, err
			}
		}
		return append(dst, end), nil
	})
}

// appendQuoted appends a JSON string of ASCII characters.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	unit := func(u rune) {
		dst = fmt.Appendf(dst, "\\u%04x", u)
	}
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r < ' ' || r == '"' || r == '\\' || r == '/':
			dst = appendJSONEscape(dst, byte(r))
		case r < utf8.RuneSelf:
			dst = append(dst, byte(r))
		case r > 0xffff:
			r -= 0x10000
			unit(0xd800 + r>>10)
			unit(0xdc00 + r&0x3ff)
		default:
			unit(r)
		}
		s = s[n:]
	}
	return append(dst, '"')
}

// appendUnquoted appends what stands between the quotes of a JSON string. As in Flink the string may end
// at a quote before the last one; the rest counts all the same.
func appendUnquoted(dst, s []byte) []byte {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return append(dst, s...)
	}
	if !bytes.ContainsRune(s, '\\') {
		inner := s[1 : len(s)-1]
		head := inner
		if k := bytes.IndexByte(inner, '"'); k >= 0 {
			head = inner[:k]
		}
		if bytes.IndexFunc(head, func(r rune) bool { return r < ' ' }) >= 0 {
			return append(dst, s...)
		}
		return append(dst, inner...)
	}
	start := len(dst)
	inner, closed := s[1:len(s)-1], false
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c == '"' {
			closed = true
		}
		if c != '\\' {
			if c < ' ' && !closed {
				return append(dst[:start], s...)
			}
			dst = append(dst, c)
			continue
		}
		// One escape, or two that are the surrogates of one character.
		n := 2
		if i+1 < len(inner) && inner[i+1] == 'u' {
			n = 6
			if i+12 <= len(inner) && inner[i+6] == '\\' && inner[i+7] == 'u' && inner[i+2]|0x20 == 'd' && inner[i+3] >= '8' && inner[i+8]|0x20 == 'd' {
				n = 12
			}
		}
		if i+n > len(inner) {
			if closed && n == 2 {
				dst = append(dst, c) // the last character: nothing is escaped
				continue
			}
			return append(dst[:start], s...)
		}
		quoted := append(append([]byte{'"'}, inner[i:i+n]...), '"')
		if !validJSON(quoted) {
			return append(dst[:start], s...)
		}
		dst, _ = jsontext.AppendUnquote(dst, quoted) // a lone surrogate becomes U+FFFD
		i += n - 1
	}
	return dst
}
