package expr

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// JSONClauses are the clauses of a call of JSON_EXISTS, JSON_VALUE or JSON_QUERY. In an expression they
// are an argument, a literal, so that calls are told apart, encoded and printed like any others.
type JSONClauses struct {
	Returning types.Type // JSON_VALUE and JSON_QUERY; the zero Type is STRING
	Wrapper   string     // JSON_QUERY: WITHOUT, WITH CONDITIONAL, WITH UNCONDITIONAL
	// OnEmpty and OnError are NULL, ERROR, DEFAULT, EMPTY ARRAY, EMPTY OBJECT, TRUE, FALSE or UNKNOWN; empty
	// for what the function does by itself.
	OnEmpty, OnError string
}

// text writes the clauses as SQL has them.
func (c JSONClauses) text() string {
	var parts []string
	add := func(is bool, text string) {
		if is {
			parts = append(parts, text)
		}
	}
	add(c.Returning.Kind != types.Null, "RETURNING "+c.Returning.AsNullable().String())
	add(c.Wrapper != "", c.Wrapper+" WRAPPER")
	add(c.OnEmpty != "", c.OnEmpty+" ON EMPTY")
	add(c.OnError != "", c.OnError+" ON ERROR")
	return strings.Join(parts, " ")
}

// parseJSONClauses reads what text wrote.
func parseJSONClauses(s string) (c JSONClauses, ok bool) {
	if rest, is := strings.CutPrefix(s, "RETURNING "); is {
		end := len(rest)
		for _, word := range []string{" WITH", " NULL ON", " ERROR ON", " DEFAULT ON", " EMPTY"} {
			if k := strings.Index(rest, word); k >= 0 {
				end = min(end, k)
			}
		}
		t, err := types.ParseType(rest[:end])
		if err != nil {
			return c, false
		}
		c.Returning, s = t, strings.TrimPrefix(rest[end:], " ")
	}
	if k := strings.Index(s, " WRAPPER"); k >= 0 {
		c.Wrapper, s = s[:k], strings.TrimPrefix(s[k+len(" WRAPPER"):], " ")
	}
	if k := strings.Index(s, " ON EMPTY"); k >= 0 {
		c.OnEmpty, s = s[:k], strings.TrimPrefix(s[k+len(" ON EMPTY"):], " ")
	}
	if k := strings.Index(s, " ON ERROR"); k >= 0 {
		c.OnError, s = s[:k], s[k+len(" ON ERROR"):]
	}
	return c, s == ""
}

// NewJSONCall makes a call of JSON_EXISTS, JSON_VALUE or JSON_QUERY. defaults are the values of the
// DEFAULT clauses, that of ON EMPTY first.
func NewJSONCall(name string, input, path Expr, clauses JSONClauses, defaults []Expr, at Span) (Expr, error) {
	text := clauses.text()
	args := []Expr{input, path, NewLiteral(types.WithPrecision(types.Char, max(1, len(text))), text, at)}
	return NewCall(name, append(args, defaults...), at)
}

// jsonBehaviours are what ON EMPTY and ON ERROR of a function may do, its default first.
func jsonBehaviours(name string) []string {
	switch name {
	case "JSON_EXISTS":
		return []string{"FALSE", "TRUE", "UNKNOWN", "ERROR"}
	case "JSON_VALUE":
		return []string{"NULL", "ERROR", "DEFAULT"}
	}
	return []string{"NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT"}
}

// clausesOf returns the clauses of a call with defaults filled in; an error is the user's.
func clausesOf(name string, args []Expr) (c JSONClauses, err error) {
	if len(args) > 2 {
		text, isText := constText(args[2])
		ok := false
		if c, ok = parseJSONClauses(text); !isText || !ok {
			return c, errMismatch
		}
	}
	all := jsonBehaviours(name)
	for _, b := range []*string{&c.OnEmpty, &c.OnError} {
		if *b == "" {
			*b = all[0]
		}
		known := false
		for _, a := range all {
			known = known || a == *b
		}
		if !known {
			return c, errMismatch
		}
	}
	if c.Returning.Kind == types.Null {
		c.Returning = types.String()
	}
	if c.Wrapper == "" {
		c.Wrapper = "WITHOUT"
	}
	return c, nil
}

// bindJSONPath checks the first two arguments: the JSON text and the path.
func bindJSONPath(args []Expr) (params []types.Type, err error) {
	for i, what := range []string{"a JSON text", "a path such as '$.name'"} {
		t, ok := text(args[i].Type())
		if !ok {
			return nil, &Error{Span: args[i].Span(), Row: -1, Msg: fmt.Sprintf("%s belongs here, and this is of type %s", what, args[i].Type().AsNullable()),
				Hint: "CAST(… AS STRING) makes a text of it; JSON_STRING(…) makes JSON"}
		}
		params = append(params, t)
	}
	if s, ok := constText(args[1]); ok {
		if _, err := compileJSONPath(s); err != nil {
			return nil, &Error{Span: args[1].Span(), Row: -1, Msg: err.Error(), Hint: jsonPathHint}
		}
	}
	if len(args) > 2 {
		params = append(params, args[2].Type())
	}
	return params, nil
}

// isJSONScalarType reports whether JSON_VALUE returns values of a type, and JSON_QUERY arrays of them.
func isJSONScalarType(t types.Type) bool {
	return t.Kind == types.Boolean || t.IsNumeric() || t.IsString() && t.Kind == types.VarChar && t.Precision == types.MaxLength
}

func cannotReturn(name string, t types.Type, hint string) error {
	return &Error{Row: -1, Msg: fmt.Sprintf("%s cannot return %s", name, t), Hint: hint}
}

func bindJSONValue(args []Expr) ([]types.Type, types.Type, error) {
	params, err := bindJSONPath(args)
	if err != nil {
		return nil, types.Type{}, err
	}
	c, err := clausesOf("JSON_VALUE", args)
	t := c.Returning.AsNullable()
	if err != nil || len(args) > 2 && len(args)-3 != b2i(c.OnEmpty == "DEFAULT")+b2i(c.OnError == "DEFAULT") {
		return nil, t, errMismatch
	}
	if !isJSONScalarType(t) {
		return nil, t, cannotReturn("JSON_VALUE", t, "it returns STRING, BOOLEAN or a number, which CAST makes another type of")
	}
	for _, d := range args[min(3, len(args)):] {
		dt := d.Type()
		if dt.Kind != types.Null && !dt.SameKind(t) && !types.CastAllowed(dt, t) {
			return nil, t, &Error{Span: d.Span(), Row: -1, Msg: fmt.Sprintf("the DEFAULT of JSON_VALUE must be of type %s, not %s", t, dt.AsNullable())}
		}
		if !isNullLiteral(d) && IsConstant(d) {
			if x := Fold(implicit(d, t), &Env{}); Fallible(x) {
				return nil, t, &Error{Span: d.Span(), Row: -1, Msg: fmt.Sprintf("the DEFAULT of JSON_VALUE is no value of type %s", t)}
			}
		} else if Fallible(implicit(d, t)) && !isNullLiteral(d) {
			return nil, t, &Error{Span: d.Span(), Row: -1, Msg: "the DEFAULT of JSON_VALUE must be an expression that cannot fail",
				Hint: fmt.Sprintf("write COALESCE(JSON_VALUE(…), …), or a value of type %s", t)}
		}
		params = append(params, t)
	}
	return params, t, nil
}

func bindJSONQuery(args []Expr) ([]types.Type, types.Type, error) {
	params, err := bindJSONPath(args)
	if err != nil {
		return nil, types.Type{}, err
	}
	c, err := clausesOf("JSON_QUERY", args)
	t := c.Returning.AsNullable()
	switch {
	case err != nil:
		return nil, t, err
	case t.Kind == types.Array && !isJSONScalarType(t.Element()):
		return nil, t, cannotReturn("JSON_QUERY", t, "the elements are STRING, BOOLEAN or numbers")
	case t.Kind != types.Array && !(isJSONScalarType(t) && t.IsString()):
		return nil, t, cannotReturn("JSON_QUERY", t, "it returns STRING or an ARRAY; JSON_VALUE returns scalars")
	case t.Kind == types.Array && c.OnEmpty == "EMPTY OBJECT":
		return nil, t, &Error{Row: -1, Msg: fmt.Sprintf("EMPTY OBJECT ON EMPTY is no value of type %s", t), Hint: "write EMPTY ARRAY ON EMPTY"}
	case t.Kind == types.Array && c.OnError == "EMPTY OBJECT":
		return nil, t, &Error{Row: -1, Msg: fmt.Sprintf("EMPTY OBJECT ON ERROR is no value of type %s", t), Hint: "write EMPTY ARRAY ON ERROR"}
	}
	return params, t, nil
}

// jsonReader reads the JSON text and the path of a call, row after row.
type jsonReader struct {
	ev       jsonEval
	doc      jsonDoc
	docErr   error
	isParsed bool // doc is that of a constant argument
	path     *jsonPath
	pathErr  error
	last     string // the path compiled last, when it is not constant
	constant bool
}

func newJSONReader(c *Call) *jsonReader {
	r := &jsonReader{}
	if s, ok := constText(c.Args[1]); ok {
		r.constant = true
		r.path, r.pathErr = compileJSONPath(s)
	}
	return r
}

// perBatch makes the step of a kernel that reads a constant JSON text once a batch.
func (r *jsonReader) perBatch(k Kernel) (Step, error) {
	step, err := stepOf(k)
	return func(rows Rows, a []Arg, out *column.Vector) error {
		r.isParsed = false
		return step(rows, a, out)
	}, err
}

// jsonOutcome is what a path comes to.
type jsonOutcome uint8

const (
	jsonValue jsonOutcome = iota
	jsonEmpty
	jsonError
)

// read walks the path in the row's document. A value is one item, or for an indefinite path all of the
// walk's. An error is described by fault.
func (r *jsonReader) read(a []Arg, i int) (it jsonItem, o jsonOutcome) {
	if !r.constant {
		if p := a[1].text(i); r.path == nil || r.last != string(p) {
			r.last = string(p)
			r.path, r.pathErr = compileJSONPath(r.last)
		}
	}
	if r.pathErr != nil {
		return it, jsonError
	}
	if !a[0].Const || !r.isParsed {
		r.docErr = r.doc.parse(a[0].text(i))
		r.isParsed = a[0].Const
	}
	switch {
	case r.docErr != nil:
		if r.path.lax {
			return it, jsonEmpty
		}
		return it, jsonError
	case r.doc.kind(0) == 'n':
		return it, jsonError
	}
	r.ev.run(r.path, &r.doc)
	switch {
	case r.ev.why == jsonTooMany:
		return it, jsonError
	case r.ev.why != jsonFound && r.path.lax && !r.path.definite:
		r.ev.found = r.ev.found[:0]
		return it, jsonValue
	case r.ev.why != jsonFound && r.path.lax:
		return it, jsonEmpty
	case r.ev.why != jsonFound:
		return it, jsonError
	case !r.path.definite:
		return it, jsonValue
	}
	it = r.ev.found[len(r.ev.found)-1]
	if it.kind() == 'n' {
		if r.path.lax {
			return it, jsonEmpty
		}
		return it, jsonError
	}
	return it, jsonValue
}

// fault says why read came to an error.
func (r *jsonReader) fault() error {
	switch {
	case r.pathErr != nil:
		return failure(r.pathErr.Error(), jsonPathHint)
	case r.docErr != nil:
		return failure("Invalid JSON: "+r.docErr.Error(), "lax in front of the path, or another ON ERROR, lets it pass")
	case r.doc.kind(0) == 'n':
		return errJSONNull
	case r.ev.why == jsonTooMany:
		return failure(r.ev.message(), "write a path with fewer ..")
	case r.ev.why != jsonFound:
		return failure(r.ev.message(), "lax in front of the path makes it empty instead of an error")
	}
	return failure("Strict jsonpath mode requires a non empty returned value, but is null", "lax in front of the path makes it empty instead of an error")
}

// appendFound appends the values of an indefinite path as an array.
func (r *jsonReader) appendFound(dst []byte) []byte {
	dst = append(dst, '[')
	for k, it := range r.ev.found {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = r.ev.w.append(dst, it.doc, it.at)
	}
	return append(dst, ']')
}

func jsonExistsKernel(c *Call, _ *Env) (Step, error) {
	clauses, err := clausesOf("JSON_EXISTS", c.Args)
	if err != nil {
		return nil, err
	}
	r := newJSONReader(c)
	return r.perBatch(boolOf(func(a []Arg, i int) (bool, error) {
		switch _, o := r.read(a, i); o {
		case jsonValue:
			return true, nil
		case jsonEmpty:
			return false, nil
		}
		switch clauses.OnError {
		case "ERROR":
			return false, r.fault()
		case "UNKNOWN":
			return false, errNull
		}
		return clauses.OnError == "TRUE", nil
	}))
}

// jsonScalar is a scalar converted to a SQL type.
type jsonScalar struct {
	b    bool
	i    int64
	f    float64
	d    types.Int128
	text []byte
}

// scalarOf converts a JSON scalar. Texts are read as booleans and numbers, decimals of an integer are cut
// off, those of a DECIMAL rounded; nothing leaves the range of its type.
func scalarOf(it jsonItem, t types.Type) (v jsonScalar, ok bool) {
	text := it.text()
	switch kind := it.kind(); {
	case t.IsString():
		v.text = text
		return v, true
	case t.Kind == types.Boolean:
		switch {
		case kind == 't' || kind == 'f':
			v.b = kind == 't'
			return v, true
		case kind == '"':
			return jsonBoolean(text)
		}
		return v, false
	case kind != 0 && (kind != '"' || !isPlainNumber(text)):
		return v, false
	}
	switch t.Kind {
	case types.Float, types.Double:
		size := 64
		if t.Kind == types.Float {
			size = 32
		}
		var err error
		v.f, err = strconv.ParseFloat(string(text), size)
		return v, err == nil && !math.IsInf(v.f, 0)
	case types.Decimal:
		var err error
		v.d, err = types.ParseDecimal(text, t.Precision, t.Scale)
		return v, err == nil
	}
	v.i, ok = wholePart(text)
	return v, ok && types.IntInRange(v.i, t.Kind)
}

func jsonBoolean(text []byte) (v jsonScalar, ok bool) {
	switch strings.ToLower(string(bytes.TrimSpace(text))) {
	case "true", "t", "yes", "1":
		return jsonScalar{b: true}, true
	case "false", "f", "no", "0":
		return v, true
	}
	return v, false
}

// isPlainNumber reports whether a text is a number without blanks: -1, +1, .5, 5., 1e3.
func isPlainNumber(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	digits := func() (n int) {
		for len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
			b, n = b[1:], n+1
		}
		return n
	}
	n := digits()
	if len(b) > 0 && b[0] == '.' {
		b = b[1:]
		n += digits()
	}
	if n == 0 {
		return false
	}
	if len(b) > 0 && b[0]|0x20 == 'e' {
		if b = b[1:]; len(b) > 0 && (b[0] == '-' || b[0] == '+') {
			b = b[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return len(b) == 0
}

// wholePart returns a number without its decimals; ok is false when BIGINT does not hold it.
func wholePart(b []byte) (n int64, ok bool) {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return n, true
	}
	d := decimalOf(strings.TrimPrefix(string(b), "+"))
	switch {
	case d.digits == "" || d.point <= 0:
		return 0, true
	case d.point > 19:
		return 0, false
	}
	whole := d.digits
	if k := int(d.point); k < len(whole) {
		whole = whole[:k]
	} else {
		whole += strings.Repeat("0", k-len(whole))
	}
	if d.negative {
		whole = "-" + whole
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	return n, err == nil
}

// set stores the scalar at row i of a vector that has it already.
func (v *jsonScalar) set(out *column.Vector, i int) {
	switch t := out.Type; {
	case t.Kind == types.Boolean:
		out.Bool[i] = v.b
	case t.Kind == types.Float:
		out.F32[i] = float32(v.f)
	case t.Kind == types.Double:
		out.F64[i] = v.f
	case t.Kind == types.Decimal:
		setDecimal(out, i, v.d)
	default:
		setInt(out, i, v.i)
	}
}

// append appends the scalar to a vector.
func (v *jsonScalar) append(out *column.Vector) {
	switch t := out.Type; {
	case t.IsString():
		out.AppendBytes(v.text)
	case t.Kind == types.Boolean:
		out.AppendBool(v.b)
	case t.IsFloat():
		out.AppendF64(v.f)
	case t.Kind == types.Decimal && t.Wide():
		out.AppendI128(v.d)
	case t.Kind == types.Decimal:
		out.AppendI64(int64(v.d.Lo))
	default:
		out.AppendI64(v.i)
	}
}

// jsonValueKernel is that of JSON_VALUE. It sees NULLs, because a DEFAULT may be one.
func jsonValueKernel(c *Call, _ *Env) (Step, error) {
	clauses, err := clausesOf("JSON_VALUE", c.Args)
	if err != nil {
		return nil, err
	}
	r := newJSONReader(c)
	onEmpty, onError := 3, 3
	if clauses.OnEmpty == "DEFAULT" {
		onError++
	}
	text := c.T.IsString()
	return func(rows Rows, a []Arg, out *column.Vector) error {
		r.isParsed = false
		var w textOut
		if text {
			w = newText(out, rows.N).within(rows)
		}
		for k, n := 0, rows.Count(); k < n; k++ {
			i := rows.Row(k)
			behaviour, def := "NULL", 0
			if !a[0].null(i) && !a[1].null(i) {
				it, o := r.read(a, i)
				scalar := true
				switch {
				case o == jsonValue && (!r.path.definite || !it.doc.scalar(it.at)):
					if o = jsonError; r.path.lax {
						o = jsonEmpty
					}
					scalar = false
				case o == jsonValue:
					if text {
						out.Bytes = it.doc.appendScalar(out.Bytes, it.at)
						w.end(i)
						continue
					}
					if v, ok := scalarOf(it, c.T); ok {
						v.set(out, i)
						continue
					}
					if clauses.OnError == "ERROR" {
						return located(failure(fmt.Sprintf("Cannot cast the JSON value %s to %s", shorten(it.doc.raw(it.at)), c.T.AsNullable()),
							"another ON ERROR lets it pass"), i)
					}
					o = jsonError
				}
				if o == jsonEmpty {
					if behaviour, def = clauses.OnEmpty, onEmpty; behaviour == "ERROR" {
						return located(failure("Empty result of JSON_VALUE function is not allowed", "another ON EMPTY lets it pass"), i)
					}
				} else if behaviour, def = clauses.OnError, onError; behaviour == "ERROR" {
					if !scalar {
						return located(r.notScalar(it), i)
					}
					return located(r.fault(), i)
				}
			}
			switch {
			case behaviour == "DEFAULT" && !a[def].null(i) && text:
				w.put(i, a[def].text(i))
			case behaviour == "DEFAULT" && !a[def].null(i):
				copyRow(out, i, a[def].Vector, a[def].At(i))
			default:
				if text {
					w.end(i)
				}
				out.SetNull(i)
			}
		}
		if text {
			return w.finish()
		}
		return nil
	}, nil
}

// notScalar is the error for an array or object where a scalar is wanted.
func (r *jsonReader) notScalar(it jsonItem) error {
	value := []byte(nil)
	if r.path.definite {
		value = it.doc.raw(it.at)
	} else {
		value = r.appendFound(nil)
	}
	return failure("Strict jsonpath mode requires scalar value, and the actual value is: '"+shorten(value)+"'", "JSON_QUERY returns arrays and objects")
}

// jsonQueryKernel is that of JSON_QUERY.
func jsonQueryKernel(c *Call, _ *Env) (Step, error) {
	clauses, err := clausesOf("JSON_QUERY", c.Args)
	if err != nil {
		return nil, err
	}
	r := newJSONReader(c)
	// find gives the value, already wrapped: one item, or the list of all that was found.
	find := func(a []Arg, i int) (it jsonItem, list bool, behaviour string, err error) {
		it, o := r.read(a, i)
		if o == jsonValue {
			list = !r.path.definite
			isArray, isScalar := list || it.kind() == '[', !list && it.doc.scalar(it.at)
			switch {
			case clauses.Wrapper == "WITH UNCONDITIONAL" || clauses.Wrapper == "WITH CONDITIONAL" && !isArray:
				if list {
					it = r.ev.list(r.ev.found)
				}
				r.ev.found = append(r.ev.found[:0], it)
				return it, true, "", nil
			case !isScalar:
				return it, list, "", nil
			case r.path.lax:
				o = jsonEmpty
			case clauses.OnError == "ERROR":
				return it, false, "", failure("Strict jsonpath mode requires array or object value, and the actual value is: '"+shorten(it.text())+"'",
					"JSON_VALUE returns scalars; WITH WRAPPER makes an array of them")
			default:
				return it, false, clauses.OnError, nil
			}
		}
		if o == jsonEmpty {
			if clauses.OnEmpty == "ERROR" {
				return it, false, "", failure("Empty result of JSON_QUERY function is not allowed", "another ON EMPTY lets it pass")
			}
			return it, false, clauses.OnEmpty, nil
		}
		if clauses.OnError == "ERROR" {
			return it, false, "", r.fault()
		}
		return it, false, clauses.OnError, nil
	}
	if c.T.IsString() {
		return r.perBatch(textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
			it, list, behaviour, err := find(a, i)
			switch {
			case err != nil:
				return nil, err
			case behaviour == "NULL":
				return nil, errNull
			case behaviour == "EMPTY ARRAY":
				return append(dst, "[]"...), nil
			case behaviour == "EMPTY OBJECT":
				return append(dst, "{}"...), nil
			case list:
				return r.appendFound(dst), nil
			}
			return r.ev.w.append(dst, it.doc, it.at), nil
		}))
	}
	elements := column.New(c.T.Element(), 0)
	return r.perBatch(nestedOf(func(out *column.Vector, a []Arg, i int) error {
		it, list, behaviour, err := find(a, i)
		if err != nil {
			return err
		}
		elements.Reset()
		if behaviour == "" && !r.collect(elements, it, list) {
			if behaviour = clauses.OnError; behaviour == "ERROR" {
				return failure("Array element type mismatch in JSON_QUERY", fmt.Sprintf("the value is no %s; another ON ERROR lets it pass", c.T.AsNullable()))
			}
			elements.Reset()
		}
		if behaviour == "NULL" {
			out.AppendNull()
			return nil
		}
		out.Children[0].AppendRange(elements, 0, elements.Len)
		out.EndRow()
		return nil
	}))
}

// collect appends the elements of a list to a vector of their type; it returns false when the value is no
// array or an element is of another type.
func (r *jsonReader) collect(out *column.Vector, it jsonItem, list bool) bool {
	add := func(it jsonItem) bool {
		switch {
		case it.kind() == 'n':
			if out.Type.NotNull {
				return false
			}
			out.AppendNull()
		case it.doc.scalar(it.at):
			v, ok := scalarOf(it, out.Type)
			if !ok {
				return false
			}
			v.append(out)
		case !out.Type.IsString():
			return false
		default:
			out.AppendBytes(r.ev.w.append(nil, it.doc, it.at))
		}
		return true
	}
	if list {
		for _, it := range r.ev.found {
			if !add(it) {
				return false
			}
		}
		return true
	}
	if it.kind() != '[' {
		return false
	}
	d := it.doc
	for e := it.at + 1; e < d.nodes[it.at].next; e = d.nodes[e].next {
		if !add(jsonItem{d, e}) {
			return false
		}
	}
	return true
}
