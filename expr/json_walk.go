package expr

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/types"
)

// jsonItem is a value of a document.
type jsonItem struct {
	doc *jsonDoc
	at  int32
}

func (it jsonItem) kind() byte { return it.doc.nodes[it.at].kind }

// jsonWhy is why a path leads nowhere.
type jsonWhy uint8

const (
	jsonFound jsonWhy = iota
	jsonNoResult
	jsonNoObject
	jsonNoArray
	jsonNoFilter
	jsonNoNumbers
	jsonNoElement
	jsonTooMany
)

// jsonEval walks paths. It keeps memory between rows.
type jsonEval struct {
	root   *jsonDoc
	found  []jsonItem
	why    jsonWhy
	where  *jsonStep
	w      jsonWriter
	visits int // of values, in this run
}

// run walks a path. Then found holds what it leads to, which for a definite path is one value, or why says
// why it failed.
func (ev *jsonEval) run(p *jsonPath, doc *jsonDoc) {
	ev.root, ev.found, ev.why, ev.where = doc, ev.found[:0], jsonFound, nil
	ev.visits = 0
	ev.walk(p.steps, jsonItem{doc, 0})
	if !p.definite && ev.why == jsonFound {
		size := 0
		for _, it := range ev.found {
			if size += len(it.doc.raw(it.at)); size > maxJSONFound {
				ev.fail(jsonTooMany, &p.steps[len(p.steps)-1])
				break
			}
		}
	}
	if p.definite && len(ev.found) == 0 && ev.why == jsonFound {
		ev.why, ev.where = jsonNoResult, &p.steps[len(p.steps)-1]
	}
}

func (ev *jsonEval) fail(why jsonWhy, st *jsonStep) {
	if ev.why == jsonFound {
		ev.why, ev.where = why, st
	}
}

// message is the text for a path that failed.
func (ev *jsonEval) message() string {
	path := ev.where.path
	switch ev.why {
	case jsonNoObject:
		return "No results for path: " + path + ": there is no object with such a member"
	case jsonNoArray:
		return "No results for path: " + path + ": there is no array"
	case jsonNoFilter:
		return "No results for path: " + path + ": a condition can be applied to arrays and objects only"
	case jsonTooMany:
		return "The path " + path + " leads to too much: more than " + strconv.Itoa(maxJSONFound>>20) + " MiB, or after more than " + strconv.Itoa(maxJSONVisits>>20) + " million steps"
	case jsonNoNumbers:
		return "No results for path: " + path + ": there is no array with numbers"
	}
	return "No results for path: " + path
}

// What one path may lead to in one value. Each .. multiplies the number of its steps by the depth of the value,
// and what it finds contains one another.
const (
	maxJSONVisits = 4 << 20
	maxJSONFound  = 64 << 20 // bytes
)

// walk appends to found what the steps lead to from a value.
func (ev *jsonEval) walk(steps []jsonStep, it jsonItem) {
	if ev.visits++; ev.visits > maxJSONVisits {
		if len(steps) > 0 {
			ev.fail(jsonTooMany, &steps[0])
		}
		return
	}
	if len(steps) == 0 {
		ev.found = append(ev.found, it)
		return
	}
	d, at, st, rest := it.doc, it.at, &steps[0], steps[1:]
	switch st.kind {
	case jsonNames:
		ev.names(st, rest, it)
	case jsonIndexes, jsonSlice:
		if d.kind(at) != '[' {
			if st.before {
				ev.fail(jsonNoArray, st)
			}
			return
		}
		ev.positions(st, rest, it)
	case jsonAll:
		if d.kind(at) == '{' {
			ev.members(it, func(v int32) { ev.walk(rest, jsonItem{d, v}) })
		} else if d.kind(at) == '[' {
			for e := at + 1; e < d.nodes[at].next; e = d.nodes[e].next {
				ev.walk(rest, jsonItem{d, e})
			}
		}
	case jsonScan:
		if last := &steps[len(steps)-1]; last.scanned {
			ev.scanFunction(steps[:len(steps)-1], last, it)
			return
		}
		ev.scan(rest, it)
	case jsonFilter:
		switch d.kind(at) {
		case '{':
			if st.cond.holds(ev, it) {
				ev.walk(rest, it)
			}
		case '[':
			for e := at + 1; e < d.nodes[at].next; e = d.nodes[e].next {
				if x := (jsonItem{d, e}); st.cond.holds(ev, x) {
					ev.walk(rest, x)
				}
			}
		default:
			if st.before {
				ev.fail(jsonNoFilter, st)
			}
		}
	case jsonFunction:
		ev.apply(st, it)
	}
}

// members calls f for the values of an object, of equal names for the last one's.
func (ev *jsonEval) members(it jsonItem, f func(v int32)) {
	d, at := it.doc, it.at
	// Names are seldom there twice: found out by sorting them once.
	base := len(ev.w.members)
	ev.w.collect(d, at)
	sorted, twice := ev.w.members[base:], false
	for k := 1; k < len(sorted); k++ {
		twice = twice || bytes.Equal(sorted[k-1].name, sorted[k].name)
	}
	var last map[string]int32
	if twice {
		last = map[string]int32{}
		for _, m := range sorted {
			last[string(m.name)] = m.value
		}
	}
	ev.w.members = ev.w.members[:base]
	for m := at + 1; m < d.nodes[at].next; m = d.nodes[m+1].next {
		v := m + 1
		if twice { // a name stands where it is first, with the value that it has last
			name := string(d.appendString(nil, m))
			value, ok := last[name]
			if !ok {
				continue
			}
			v = value
			delete(last, name)
		}
		f(v)
	}
}

func (ev *jsonEval) names(st *jsonStep, rest []jsonStep, it jsonItem) {
	d, at := it.doc, it.at
	if d.kind(at) != '{' {
		if st.before {
			ev.fail(jsonNoObject, st)
		}
		return
	}
	if len(st.names) == 1 {
		v := d.member(at, st.names[0])
		switch {
		case v >= 0:
			ev.walk(rest, jsonItem{d, v})
		case st.before && len(rest) > 0:
			ev.fail(jsonNoResult, st)
		}
		return
	}
	if len(rest) > 0 {
		for _, name := range st.names {
			if v := d.member(at, name); v >= 0 {
				ev.walk(rest, jsonItem{d, v})
			}
		}
		return
	}
	// Several names at the end make an object of these members.
	b := []byte{'{'}
	for _, name := range st.names {
		if v := d.member(at, name); v >= 0 {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(appendJSONString(b, []byte(name)), ':')
			b = append(b, d.raw(v)...)
		}
	}
	ev.made(append(b, '}'))
}

// made adds a value that is not in the document: JSON that is known to be right.
func (ev *jsonEval) made(text []byte) {
	d := &jsonDoc{}
	if d.parse(text) == nil {
		ev.found = append(ev.found, jsonItem{d, 0})
	}
}

func (ev *jsonEval) positions(st *jsonStep, rest []jsonStep, it jsonItem) {
	d, at := it.doc, it.at
	if st.kind == jsonIndexes && len(st.indexes) == 1 && st.indexes[0] >= 0 {
		if e := d.element(at, st.indexes[0]); e >= 0 {
			ev.walk(rest, jsonItem{d, e})
		}
		return
	}
	elements := make([]int32, 0, 16)
	for e := at + 1; e < d.nodes[at].next; e = d.nodes[e].next {
		elements = append(elements, e)
	}
	n := len(elements)
	visit := func(k int) {
		if k < 0 {
			k += n
		}
		if k >= 0 && k < n {
			ev.walk(rest, jsonItem{d, elements[k]})
		}
	}
	if st.kind == jsonIndexes {
		for _, k := range st.indexes {
			visit(k)
		}
		return
	}
	from, to := 0, n
	switch {
	case st.to == nil:
		if from = *st.from; from < 0 {
			from = max(0, n+from)
		}
	case st.from == nil:
		if to = *st.to; to < 0 {
			to += n
		}
		to = min(to, n)
	default: // [-2:1] are the last two and the first
		from, to = max(*st.from, -n), min(*st.to, n)
	}
	for k := from; k < to; k++ {
		visit(k)
	}
}

// scan takes the steps from a value and all arrays and objects in it.
func (ev *jsonEval) scan(steps []jsonStep, it jsonItem) {
	d, next := it.doc, &steps[0]
	for at := it.at; at < d.nodes[it.at].next; at++ {
		x := jsonItem{d, at}
		switch k := d.kind(at); {
		case k != '{' && k != '[':
			continue
		case next.kind == jsonFilter && !next.cond.holds(ev, x):
			continue
		case next.kind == jsonNames && len(next.names) > 1 && len(steps) == 1 && !hasNames(x, next.names):
			continue
		}
		ev.walk(steps, x)
	}
}

func hasNames(it jsonItem, names []string) bool {
	for _, name := range names {
		if it.kind() != '{' || it.doc.member(it.at, name) < 0 {
			return false
		}
	}
	return true
}

// scanFunction applies a function to the array of all that the steps find.
func (ev *jsonEval) scanFunction(steps []jsonStep, fn *jsonStep, it jsonItem) {
	base := len(ev.found)
	ev.walk(steps, it)
	list := ev.list(ev.found[base:])
	ev.found = ev.found[:base]
	ev.apply(fn, list)
}

// list makes an array of values.
func (ev *jsonEval) list(items []jsonItem) jsonItem {
	b := []byte{'['}
	for k, it := range items {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(b, it.doc.raw(it.at)...)
	}
	d := &jsonDoc{}
	if d.parse(append(b, ']')) != nil {
		// The only fault that it can have is a level too many.
		return jsonItem{emptyJSONList(), 0}
	}
	return jsonItem{d, 0}
}

func emptyJSONList() *jsonDoc {
	d := &jsonDoc{}
	_ = d.parse([]byte("[]")) // is JSON
	return d
}

// apply adds the value of a function.
func (ev *jsonEval) apply(st *jsonStep, it jsonItem) {
	d, at := it.doc, it.at
	switch st.fn {
	case "length", "size":
		if d.scalar(at) {
			ev.made([]byte("null"))
			return
		}
		ev.made(strconv.AppendInt(nil, int64(d.members(at)), 10))
	case "keys":
		if d.kind(at) != '{' {
			ev.made([]byte("null"))
			return
		}
		b := []byte{'['}
		seen := map[string]bool{}
		for m := at + 1; m < d.nodes[at].next; m = d.nodes[m+1].next {
			if name := string(d.appendString(nil, m)); !seen[name] {
				seen[name] = true
				if len(b) > 1 {
					b = append(b, ',')
				}
				b = append(b, d.raw(m)...)
			}
		}
		ev.made(append(b, ']'))
	case "first", "last", "index":
		k := map[string]int{"first": 0, "last": -1, "index": st.arg}[st.fn]
		if d.kind(at) == '[' {
			if k < 0 {
				k += d.size(at)
			}
			if k >= 0 {
				if e := d.element(at, k); e >= 0 {
					ev.found = append(ev.found, jsonItem{d, e})
					return
				}
			}
		}
		ev.fail(jsonNoElement, st)
	default:
		ev.aggregate(st, it)
	}
}

// aggregate adds the least, greatest, … of the numbers of an array, as a DOUBLE.
func (ev *jsonEval) aggregate(st *jsonStep, it jsonItem) {
	d, at := it.doc, it.at
	var n, sum, squares float64
	least, most := math.Inf(1), math.Inf(-1)
	if d.kind(at) == '[' {
		for e := at + 1; e < d.nodes[at].next; e = d.nodes[e].next {
			if d.kind(e) != 0 {
				continue
			}
			x, _ := strconv.ParseFloat(string(d.raw(e)), 64) // an infinity where it is out of range
			n, sum, squares = n+1, sum+x, squares+x*x
			least, most = min(least, x), max(most, x)
		}
	}
	if n == 0 {
		ev.fail(jsonNoNumbers, st)
		return
	}
	x := sum
	switch st.fn {
	case "min":
		x = least
	case "max":
		x = most
	case "avg":
		x = sum / n
	case "stddev":
		x = math.Sqrt(max(0, squares/n-sum*sum/n/n))
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		ev.fail(jsonNoNumbers, st)
		return
	}
	ev.made(types.AppendFloat64(nil, x))
}

func (c jsonAnd) holds(ev *jsonEval, it jsonItem) bool {
	for _, x := range c {
		if !x.holds(ev, it) {
			return false
		}
	}
	return true
}

func (c jsonOr) holds(ev *jsonEval, it jsonItem) bool {
	for _, x := range c {
		if x.holds(ev, it) {
			return true
		}
	}
	return false
}

func (c jsonNot) holds(ev *jsonEval, it jsonItem) bool { return !c.cond.holds(ev, it) }

func (c jsonExists) holds(ev *jsonEval, it jsonItem) bool {
	_, ok := ev.operand(&c.path, it)
	return ok
}

// operand returns the value of an operand; ok is false when its path leads nowhere.
func (ev *jsonEval) operand(o *jsonOperand, it jsonItem) (x jsonItem, ok bool) {
	if !o.isPath {
		return jsonItem{o.doc, 0}, true
	}
	if o.root {
		it = jsonItem{ev.root, 0}
	}
	if o.definite && len(o.steps) == 1 && o.steps[0].kind == jsonNames && len(o.steps[0].names) == 1 {
		if it.kind() != '{' {
			return x, false
		}
		v := it.doc.member(it.at, o.steps[0].names[0])
		return jsonItem{it.doc, v}, v >= 0
	}
	base, why, where := len(ev.found), ev.why, ev.where
	ev.why = jsonFound
	ev.walk(o.steps, it)
	found := ev.found[base:]
	switch ok = ev.why == jsonFound; {
	case !ok:
	case !o.definite:
		x = ev.list(found)
	case len(found) == 0:
		ok = false
	default:
		x = found[len(found)-1]
	}
	if ev.found = ev.found[:base]; ev.why != jsonTooMany {
		ev.why, ev.where = why, where
	}
	return x, ok
}

func (c jsonCompare) holds(ev *jsonEval, it jsonItem) bool {
	left, lok := ev.operand(&c.left, it)
	if c.op == "=~" {
		return lok && ev.matches(c, left)
	}
	right, rok := ev.operand(&c.right, it)
	ok := lok && rok
	switch c.op {
	case "==":
		return ok && ev.equal(left, right)
	case "!=":
		return !ok || !ev.equal(left, right)
	case "===":
		return ok && sameJSONKind(left, right) && ev.equal(left, right)
	case "!==":
		return !ok || !sameJSONKind(left, right) || !ev.equal(left, right)
	case "nin":
		return !ok || !ev.contains(right, left)
	}
	if !ok {
		return false
	}
	switch c.op {
	case "in":
		return ev.contains(right, left)
	case "subsetof":
		return left.kind() == '[' && right.kind() == '[' && ev.count(left, right) == left.doc.size(left.at)
	case "anyof":
		return left.kind() == '[' && ev.count(left, right) > 0
	case "noneof":
		return left.kind() == '[' && ev.count(left, right) == 0
	case "all":
		return left.kind() == '{' || left.kind() == '[' && ev.count(right, left) == right.doc.size(right.at)
	case "contains":
		if left.kind() == '"' && right.kind() == '"' {
			return bytes.Contains(left.text(), right.text())
		}
		return ev.contains(left, right)
	case "size":
		n, err := strconv.Atoi(string(right.text()))
		switch {
		case err != nil:
			return false
		case left.kind() == '"':
			return utf8.RuneCount(left.text()) == n
		}
		return !left.doc.scalar(left.at) && left.doc.members(left.at) == n
	case "empty":
		empty := false
		switch {
		case left.kind() == '"':
			empty = len(left.text()) == 0
		case left.doc.scalar(left.at):
			return false
		default:
			empty = left.doc.size(left.at) == 0
		}
		return empty == (right.kind() == 't')
	}
	n, comparable := compareJSON(left, right)
	switch {
	case !comparable:
		return false
	case c.op == "<":
		return n < 0
	case c.op == "<=":
		return n <= 0
	case c.op == ">":
		return n > 0
	}
	return n >= 0
}

// text returns a scalar as text.
func (it jsonItem) text() []byte {
	n := &it.doc.nodes[it.at]
	if n.kind == '"' && !n.escaped {
		return it.doc.text[n.start+1 : n.end-1]
	}
	return it.doc.appendScalar(nil, it.at)
}

func sameJSONKind(a, b jsonItem) bool {
	kind := func(it jsonItem) byte {
		switch it.kind() {
		case 'f':
			return 't'
		case '{':
			return '['
		}
		return it.kind()
	}
	return kind(a) == kind(b)
}

// equal is ==. A number equals a text that is this number, and a text a number that is written so.
func (ev *jsonEval) equal(a, b jsonItem) bool {
	switch a.kind() {
	case '{', '[':
		return b.kind() == a.kind() && bytes.Equal(ev.w.append(nil, a.doc, a.at), ev.w.append(nil, b.doc, b.at))
	case 0:
		if b.kind() == '"' {
			return isJSONNumber(b.text()) && compareJSONNumbers(a.text(), b.text()) == 0
		}
		return b.kind() == 0 && compareJSONNumbers(a.text(), b.text()) == 0
	case '"':
		return (b.kind() == '"' || b.kind() == 0) && bytes.Equal(a.text(), b.text())
	}
	return a.kind() == b.kind()
}

// contains reports whether an array has an element equal to x.
func (ev *jsonEval) contains(list, x jsonItem) bool {
	if list.kind() != '[' {
		return false
	}
	d := list.doc
	for e := list.at + 1; e < d.nodes[list.at].next; e = d.nodes[e].next {
		if ev.equal(x, jsonItem{d, e}) {
			return true
		}
	}
	return false
}

// count counts the elements of a that b has.
func (ev *jsonEval) count(a, b jsonItem) (n int) {
	if a.kind() != '[' {
		return -1
	}
	d := a.doc
	for e := a.at + 1; e < d.nodes[a.at].next; e = d.nodes[e].next {
		if ev.contains(b, jsonItem{d, e}) {
			n++
		}
	}
	return n
}

func (ev *jsonEval) matches(c jsonCompare, it jsonItem) bool {
	switch it.kind() {
	case '[':
		d := it.doc
		for e := it.at + 1; e < d.nodes[it.at].next; e = d.nodes[e].next {
			if ev.matches(c, jsonItem{d, e}) {
				return true
			}
		}
		return false
	case '{', 'n':
		return c.re.MatchString("")
	}
	return c.re.Match(it.text())
}

// compareJSON compares numbers, and texts with texts and numbers.
func compareJSON(a, b jsonItem) (n int, ok bool) {
	switch x, y := a.kind(), b.kind(); {
	case x == 0 && y == 0:
		return compareJSONNumbers(a.text(), b.text()), true
	case (x == 0 || x == '"') && (y == 0 || y == '"'):
		return compareUTF16(a.text(), b.text()), true
	}
	return 0, false
}

func isJSONNumber(b []byte) bool {
	return len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') && validJSON(b)
}

// compareJSONNumbers compares JSON numbers of any size exactly.
func compareJSONNumbers(a, b []byte) int {
	x, y := decimalOf(string(a)), decimalOf(string(b))
	switch {
	case x.digits == "" && y.digits == "":
		return 0
	case x.digits == "":
		return y.negate(-1)
	case y.digits == "":
		return x.negate(1)
	case x.negative != y.negative:
		return x.negate(1)
	case x.point != y.point:
		if x.point < y.point {
			return x.negate(-1)
		}
		return x.negate(1)
	}
	return x.negate(strings.Compare(x.digits, y.digits))
}

// jsonDecimal is 0.digits times ten to the power of point; no digits are zero.
type jsonDecimal struct {
	negative bool
	digits   string // neither begins nor ends with 0
	point    int64
}

func (d jsonDecimal) negate(n int) int {
	if d.negative {
		return -n
	}
	return n
}

func decimalOf(s string) (d jsonDecimal) {
	s, d.negative = strings.CutPrefix(s, "-")
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		exp, err := strconv.ParseInt(strings.TrimPrefix(s[e+1:], "+"), 10, 62)
		if err != nil { // beyond all that could be told apart
			exp = math.MaxInt64 / 4
			if s[e+1] == '-' {
				exp = -exp
			}
		}
		d.point, s = exp, s[:e]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	d.digits = strings.TrimLeft(whole+fraction, "0")
	d.point += int64(len(d.digits) - len(fraction))
	d.digits = strings.TrimRight(d.digits, "0")
	return d
}
