package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// The model: encoding/json, ordinary Go values, and a walker that knows names, positions, wildcards and
// .. alone.

// plainDecode decodes one JSON text with numbers as they are written.
func plainDecode(s string) (any, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows")
	}
	return v, nil
}

type plainStep struct {
	name  string
	index int // when name is empty and all is not set
	all   bool
	scan  bool // .. before the step
}

// plainPath makes steps of bytes, and the path that says the same.
func plainPath(seed []byte) (steps []plainStep, path string, definite bool) {
	path, definite = "$", true
	names := []string{"a", "b", "c", "é", "a b"}
	for _, c := range seed[:min(len(seed), 4)] {
		var st plainStep
		if c&0x80 != 0 {
			st.scan, definite = true, false
			path += ".."
		}
		switch c >> 4 & 7 {
		case 0, 1, 2, 3:
			st.name = names[int(c&15)%len(names)]
			path += fmt.Sprintf("['%s']", st.name)
		case 4, 5, 6:
			st.index = int(c&7) - 2
			path += fmt.Sprintf("[%d]", st.index)
		default:
			st.all, definite = true, false
			path += "[*]"
		}
		steps = append(steps, st)
	}
	return steps, path, definite
}

// plainWalk returns what the steps lead to; the members of an object come in the order of their names.
func plainWalk(v any, steps []plainStep) (found []any) {
	if len(steps) == 0 {
		return []any{v}
	}
	st, rest := steps[0], steps[1:]
	if st.scan {
		st.scan = false
		found = append(found, plainWalk(v, append([]plainStep{st}, rest...))...)
		for _, x := range plainChildren(v) {
			found = append(found, plainWalk(x, steps)...)
		}
		return found
	}
	switch v := v.(type) {
	case map[string]any:
		if st.name != "" {
			if x, ok := v[st.name]; ok {
				return plainWalk(x, rest)
			}
		}
	case []any:
		if i := st.index; st.name == "" && !st.all {
			if i < 0 {
				i += len(v)
			}
			if i >= 0 && i < len(v) {
				return plainWalk(v[i], rest)
			}
		}
	}
	if st.all {
		for _, x := range plainChildren(v) {
			found = append(found, plainWalk(x, rest)...)
		}
	}
	return found
}

func plainChildren(v any) (xs []any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range plainKeys(v) {
			xs = append(xs, v[k])
		}
	case []any:
		return v
	}
	return xs
}

func plainKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return compareUTF16([]byte(a), []byte(b)) })
	return keys
}

// plainJSON writes a value as JSON_QUERY does.
func plainJSON(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, k := range plainKeys(v) {
			parts = append(parts, plainJSON(k)+":"+plainJSON(v[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, plainJSON(x))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case json.Number:
		return v.String()
	case string:
		var b strings.Builder
		b.WriteByte('"')
		for _, r := range v {
			switch {
			case r == '"' || r == '\\':
				b.WriteString(`\` + string(r))
			case strings.ContainsRune("\b\f\n\r\t", r):
				b.WriteString(strings.Trim(strconv.Quote(string(r)), `"`))
			case r < ' ':
				fmt.Fprintf(&b, "\\u%04X", r)
			default:
				b.WriteRune(r)
			}
		}
		return b.String() + `"`
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// tooDeepForUs is the one thing on which the two need not agree about what is JSON.
func tooDeepForUs(s string) bool { return strings.Count(s, "[")+strings.Count(s, "{") > maxJSONDepth }

// runJSON evaluates a JSON function over one row.
func runJSON(t testing.TB, name, doc, path string, c JSONClauses) (string, bool) {
	in := &Column{T: types.String()}
	e, err := NewJSONCall(name, in, NewLiteral(types.String(), path, Span{}), c, nil, Span{})
	require.NoError(t, err, path)
	ev, err := Compile(e, nil)
	require.NoError(t, err)
	v := column.New(types.String(), 1)
	v.AppendString(doc)
	out, err := ev.Eval(&column.Batch{Cols: []*column.Vector{v}, N: 1})
	require.NoError(t, err)
	if out.IsNull(0) {
		return "", false
	}
	return string(out.Value(0)), true
}

// FuzzJSON holds JSON_VALUE and JSON_QUERY against the model.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a": {"b": [1, 2, {"c": "x"}]}}`, `{"a":1,"a":2,"\u0061":3}`, `[1.50, 1e5, -0, null, true, "\ud83d\ude00\n\u0001"]`,
		`{"é": {"a b": []}}`, `{"a": [[["\/"]]]}`, `"x"`, `null`, `[1`, `{"a" 1}`, `[01]`, "[\"\x01\"]", `{} {}`,
	} {
		f.Add(s, []byte{0x00, 0x41, 0xf0})
		f.Add(s, []byte{0xf0})
		f.Add(s, []byte{0x80, 0x43})
		f.Add(s, []byte{})
	}
	f.Fuzz(func(t *testing.T, doc string, seed []byte) {
		if strings.ContainsRune(doc, '\uFFFD') || doc != strings.ToValidUTF8(doc, "") || tooDeepForUs(doc) {
			return
		}
		v, err := plainDecode(doc)
		require.Equal(t, err == nil, validJSON([]byte(doc)))
		if err == nil {
			canonical := plainJSON(v)
			var d jsonDoc
			var w jsonWriter
			require.NoError(t, d.parse([]byte(doc)))
			require.Equal(t, canonical, string(w.append(nil, &d, 0)))
			// What is written is JSON of the same value.
			again, err := plainDecode(canonical)
			require.NoError(t, err)
			require.Equal(t, v, again)
		} else {
			require.Error(t, jsonFault([]byte(doc)))
		}
		steps, path, definite := plainPath(seed)
		for _, mode := range []string{"lax ", "strict "} {
			value, isValue := runJSON(t, "JSON_VALUE", doc, mode+path, JSONClauses{})
			query, isQuery := runJSON(t, "JSON_QUERY", doc, mode+path, JSONClauses{OnEmpty: "EMPTY ARRAY", OnError: "EMPTY OBJECT"})
			require.True(t, isQuery)
			found := plainWalk(v, steps)
			wantValue, wantQuery, hasValue := "", "{}", false
			switch {
			case err != nil:
				if mode == "lax " {
					wantQuery = "[]"
				}
			case v == nil:
			case !definite:
				if mode == "strict " && query == "{}" && len(found) == 0 {
					break // a step was missing before the first that is not definite
				}
				// The order is that of the text for us, of the names for the model.
				require.True(t, strings.HasPrefix(query, "["), query)
				got, err := plainDecode(query)
				require.NoError(t, err)
				require.Equal(t, sortedJSON(found), sortedJSON(got.([]any)))
				require.False(t, isValue)
				continue
			case len(found) == 0 || found[0] == nil:
				if mode == "lax " {
					wantQuery = "[]"
				}
			default:
				switch x := found[0].(type) {
				case map[string]any, []any:
					wantQuery = plainJSON(x)
				case string:
					wantValue, hasValue = x, true
				default:
					wantValue, hasValue = plainJSON(x), true
				}
				if hasValue && mode == "lax " {
					wantQuery = "[]"
				}
			}
			require.Equal(t, hasValue, isValue, "%s of %s", mode+path, doc)
			require.Equal(t, wantValue, value)
			require.Equal(t, wantQuery, query)
		}
	})
}

func sortedJSON(xs []any) []string {
	ss := make([]string, len(xs))
	for i, x := range xs {
		ss[i] = plainJSON(x)
	}
	slices.Sort(ss)
	return ss
}

// FuzzJSONPath reads any path, and walks it.
func FuzzJSONPath(f *testing.F) {
	for _, s := range []string{
		"$.a.b", "lax $..a[0]", "strict $[?(@.a > 1 && !(@.b =~ /x.*/i))]", "$['a', 'b'].length()", "$[1:-1]", "a[*]", `$[?(@.a in ["x", 'y'])]`,
		"$..[?($.a == @.b.sum())]", "$[?(((((@.a)))))]", "$[", "$[?(@",
	} {
		f.Add(s, `{"a": [1, {"b": "x"}], "b": {"a": 2}}`)
	}
	f.Fuzz(func(t *testing.T, path, doc string) {
		p, err := compileJSONPath(path)
		if err != nil {
			require.IsType(t, &jsonPathError{}, err)
			require.NotEmpty(t, err.Error())
			return
		}
		var d jsonDoc
		if len(doc) > 500 || strings.Count(path, "..")+strings.Count(path, "*") > 4 || d.parse([]byte(doc)) != nil {
			return
		}
		var ev jsonEval
		ev.run(p, &d)
		if ev.why != jsonFound {
			require.NotEmpty(t, ev.message())
		}
		for _, it := range ev.found {
			require.True(t, json.Valid(ev.w.append(nil, it.doc, it.at)))
		}
	})
}

// FuzzJSONQuote: what is quoted is JSON, and unquoted the text again.
func FuzzJSONQuote(f *testing.F) {
	for _, s := range []string{"", "a\"b", "\\u0041", "é😀\x00\t/", "\"["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		appendUnquoted(nil, []byte(s))
		if s != strings.ToValidUTF8(s, "") {
			return
		}
		for _, quoted := range [][]byte{appendQuoted(nil, []byte(s)), appendJSONString(nil, []byte(s))} {
			var back string
			require.NoError(t, json.Unmarshal(quoted, &back))
			require.Equal(t, s, back)
			require.Equal(t, s, string(appendUnquoted(nil, quoted)))
		}
		require.True(t, bytes.Equal(appendQuoted(nil, []byte(s)), bytes.ToValidUTF8(appendQuoted(nil, []byte(s)), nil)))
	})
}

// TestJSONDepth: a text of any depth, length or number of members is read in linear time.
func TestJSONDepth(t *testing.T) {
	deep := strings.Repeat("[", maxJSONDepth) + strings.Repeat("]", maxJSONDepth)
	got, ok := runJSON(t, "JSON_QUERY", deep, "$", JSONClauses{})
	require.True(t, ok)
	require.Equal(t, deep, got)
	_, ok = runJSON(t, "JSON_QUERY", "["+deep+"]", "$", JSONClauses{})
	require.False(t, ok)
	_, ok = runJSON(t, "JSON_QUERY", strings.Repeat("[", 5_000_000), "$", JSONClauses{})
	require.False(t, ok)

	var b strings.Builder
	b.WriteString("{")
	for i := range 200_000 {
		fmt.Fprintf(&b, `"k%d":{"v":%d},`, 200_000-i, i)
	}
	b.WriteString(`"z":"` + strings.Repeat("x", 5_000_000) + `"}`)
	got, ok = runJSON(t, "JSON_QUERY", b.String(), "$..v", JSONClauses{})
	require.True(t, ok)
	require.Equal(t, 199_999, strings.Count(got, ","))
	got, ok = runJSON(t, "JSON_QUERY", b.String(), "$", JSONClauses{})
	require.True(t, ok)
	require.Len(t, got, b.Len())
	got, ok = runJSON(t, "JSON_VALUE", b.String(), "$.z", JSONClauses{})
	require.True(t, ok)
	require.Len(t, got, 5_000_000)
}

// BenchmarkJSON tells what a row of the JSON functions costs.
func BenchmarkJSON(b *testing.B) {
	const n = 2048
	docs := column.New(types.String(), n)
	ints := column.New(types.Of(types.Int), n)
	for i := range n {
		docs.AppendString(fmt.Sprintf(`{"id": %d, "name": "Ada Lovelace %d", "tags": ["a", "b"], "address": {"city": "London", "zip": "W%d"}, "ok": true, "balance": 13.37}`, i, i, i))
		ints.AppendI64(int64(i))
	}
	batch := &column.Batch{Cols: []*column.Vector{docs, ints}, N: n}
	cols := []types.Column{{Name: "j", Type: types.String()}, {Name: "n", Type: types.Of(types.Int)}}
	for _, src := range []string{
		"j IS JSON", "JSON_EXISTS(j, '$.address.zip')", "JSON_VALUE(j, '$.address.zip')", "JSON_VALUE(j, '$.id' RETURNING INT)",
		"JSON_VALUE(j, 'lax $.none')", "JSON_VALUE(j, '$.none')", "JSON_QUERY(j, '$')", "JSON_QUERY(j, '$.tags' RETURNING ARRAY<STRING>)",
		"JSON_QUERY(j, '$..zip')", "JSON_OBJECT('n' VALUE n, 'k' VALUE TRUE)", "JSON_STRING(j)", "JSON_STRING(n)",
	} {
		b.Run(src, func(b *testing.B) {
			e, err := parseSQL(src, cols)
			require.NoError(b, err)
			ev, err := Compile(e, nil)
			require.NoError(b, err)
			rows := 0
			for b.Loop() {
				_, err := ev.Eval(batch)
				require.NoError(b, err)
				rows += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
			b.ReportMetric(0, "ns/op")
		})
	}
}
