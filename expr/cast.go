package expr

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// castStep converts x at the rows, none of which is NULL, into out. At a value that has no counterpart
// it calls bad, and stops if that returns an error.
type castStep func(r Rows, x Arg, out *column.Vector, bad func(i int) error) error

// castNode evaluates CAST and TRY_CAST.
type castNode struct {
	arg   node
	cast  *Cast
	from  types.Type
	zone  *time.Location
	step  castStep // nil: the values are the same, only the type is named differently
	out   *column.Vector
	alias column.Vector // the argument under the other type; it owns no memory
	valid column.Bitmap
	sel   []uint16
	bad   func(i int) error
	x     Arg // the argument at hand, for bad
}

func compileCast(c *Cast, env *Env) (node, error) {
	arg, err := compile(c.Arg, env)
	if err != nil {
		return nil, err
	}
	n := &castNode{arg: arg, cast: c, from: c.Arg.Type(), zone: env.Zone, out: column.New(c.T, 0)}
	if !c.Implicit || !widerText(n.from, c.T) {
		n.step = newCastStep(n.from, c.T, env.Zone)
	}
	switch {
	case c.Exact && n.step != nil && c.T.IsNested():
		n.step = castParts(n.from, c.T, true, env.Zone)
	case c.Exact && n.step != nil && castMayCut(n.from, c.T):
		n.step = exactly(n.step, n.from, c.T, env.Zone)
	}
	n.bad = n.fail
	return n, nil
}

func (n *castNode) eval(b *column.Batch, r Rows) (Arg, error) {
	x, err := n.arg.eval(b, r)
	if err != nil {
		return Arg{}, err
	}
	all := r
	if x.Const {
		r = Rows{N: 1}
	}
	out := n.out
	switch {
	case x.Type.Kind == types.Null || x.Const && x.IsNull(0) || x.Const && all.Count() == 0:
		setAllNull(out, r.N, &n.valid)
		return n.result(x), nil
	case n.step == nil:
		n.alias = *x.Vector
		n.alias.Type = n.cast.T
		return Arg{Vector: &n.alias, Const: x.Const, mask: x.mask}, nil
	}
	prepare(out, r.N)
	if x.Valid != nil {
		words := (r.N + 63) / 64
		if cap(n.valid) < words {
			n.valid = make(column.Bitmap, words)
		}
		out.Valid = n.valid[:words]
		copy(out.Valid, x.Valid)
		r.Sel = narrowValid(r, x.Valid, room(&n.sel, r.N))
	}
	n.x = x
	if err := n.step(r, x, out, n.bad); err != nil {
		if !x.Const {
			all = Rows{}
		}
		return Arg{}, at(err, n.cast.At, all)
	}
	return n.result(x), nil
}

func (n *castNode) result(x Arg) Arg { return Arg{Vector: n.out, Const: x.Const, mask: x.mask} }

// fail makes row i NULL for TRY_CAST and an error otherwise.
func (n *castNode) fail(i int) error {
	if n.cast.Try {
		n.out.SetNull(i)
		return nil
	}
	to := n.cast.T.AsNullable()
	if n.cast.Exact {
		return misfit(n.x.Vector, n.x.At(i), i, to, n.zone)
	}
	hint := "TRY_CAST(x AS " + to.String() + ") makes it NULL"
	if to.IsInteger() && to.Kind != types.BigInt && fitsBigInt(n.x.Vector, n.x.At(i)) {
		hint = "CAST(x AS BIGINT) holds more; " + hint
	}
	return rowError(i, castError(n.x.Vector, n.x.At(i), n.from, to, n.zone).Error(), hint)
}

// fitsBigInt reports whether row i of v, cut to an integer, is a BIGINT; false for what is no number.
func fitsBigInt(v *column.Vector, i int) bool {
	ok := v.Type.IsInteger()
	switch v.Type.Kind {
	case types.Float:
		_, ok = truncate(float64(v.F32[i]), types.BigInt)
	case types.Double:
		_, ok = truncate(v.F64[i], types.BigInt)
	case types.Decimal:
		_, ok = types.DecimalToInt64(v.Int128(i), v.Type.Scale)
	}
	return ok
}

// castError says why row i of v cannot be cast.
func castError(v *column.Vector, i int, from, to types.Type, zone *time.Location) error {
	if from.IsString() {
		if err := parseText(v.Value(i), column.New(to, 1), to, zone); err != nil {
			return err
		}
	}
	reason := "out of range"
	switch {
	case from.IsNested():
		reason = "one of its parts has no such value"
	case from.IsBinary():
		reason = "not valid UTF-8"
	case from.IsFloat():
		f := 0.0
		if from.Kind == types.Float {
			f = float64(v.F32[i])
		} else {
			f = v.F64[i]
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			reason = "not a finite number"
		}
	}
	var text []byte
	if from.IsBinary() {
		text = types.AppendHexLiteral(nil, v.Value(i))
	} else {
		text = valueText(v, i, zone)
	}
	return types.NewValueError(text, to, reason)
}

// parseText appends the value of a text to out, of type to.
func parseText(b []byte, out *column.Vector, to types.Type, zone *time.Location) error {
	switch to.Kind {
	case types.Boolean:
		x, err := types.ParseBoolean(b)
		if err == nil {
			out.AppendBool(x)
		}
		return err
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		x, err := types.ParseInt(b, to.Kind)
		if err == nil {
			out.AppendI64(x)
		}
		return err
	case types.Float:
		x, err := types.ParseFloat32(b)
		if err == nil {
			out.AppendF64(float64(x))
		}
		return err
	case types.Double:
		x, err := types.ParseFloat64(b)
		if err == nil {
			out.AppendF64(x)
		}
		return err
	case types.Decimal:
		x, err := types.ParseDecimal(b, to.Precision, to.Scale)
		if err == nil {
			out.AppendI128(x)
		}
		return err
	case types.Date:
		x, err := types.ParseDate(b)
		if err == nil {
			out.AppendI64(int64(x))
		}
		return err
	case types.Time:
		x, err := types.ParseTime(b, to.Precision)
		if err == nil {
			out.AppendI64(int64(x))
		}
		return err
	case types.Timestamp, types.TimestampLTZ:
		x, err := types.ParseTimestamp(b, to, zone)
		if err == nil {
			out.AppendI64(x)
		}
		return err
	}
	return nil
}

// valueText returns the text of row i, not NULL, as CAST AS STRING gives it.
func valueText(v *column.Vector, i int, zone *time.Location) []byte {
	return appendValue(nil, v, i, zone)
}

// appendValue appends that text: the form that the shell prints, but for bytes, which CAST takes as UTF-8.
func appendValue(dst []byte, v *column.Vector, i int, zone *time.Location) []byte {
	if v.Type.IsBinary() {
		return append(dst, v.Value(i)...)
	}
	return column.AppendText(dst, v, i, zone)
}

// castUsesEnv reports whether a cast depends on the session's zone.
func castUsesEnv(from, to types.Type) bool {
	if from.IsNested() && to.IsNested() {
		for i, f := range from.Fields {
			if castUsesEnv(f.Type, to.Fields[i].Type) {
				return true
			}
		}
		return false
	}
	return hasInstant(from) != hasInstant(to)
}

// hasInstant reports whether t is a TIMESTAMP_LTZ or has one in it.
func hasInstant(t types.Type) bool {
	for _, f := range t.Fields {
		if hasInstant(f.Type) {
			return true
		}
	}
	return t.Kind == types.TimestampLTZ
}

// castMayFail reports whether some value of from has no counterpart in to.
func castMayFail(from, to types.Type) bool {
	switch {
	case from.Kind == types.Null:
		return false
	case from.IsNested() && to.IsNested():
		for i, f := range from.Fields {
			if castMayFail(f.Type, to.Fields[i].Type) {
				return true
			}
		}
		// Equal elements of a MULTISET are counted together.
		return tightens(from, to) || from.Kind == types.Multiset && !sameValues(from.Element(), to.Element())
	case to.IsString():
		return from.IsBinary()
	case from.IsString():
		return !to.IsBinary()
	case from.IsFloat():
		return to.IsInteger() || to.Kind == types.Decimal || from.Kind == types.Double && to.Kind == types.Float
	case from.Kind == types.Boolean || to.Kind == types.Boolean || to.IsFloat() || to.IsBinary():
		return to.Kind == types.Decimal && to.Precision == to.Scale
	case from.IsNumeric() && to.IsNumeric():
		if from.IsInteger() && to.IsInteger() {
			return to.Kind < from.Kind
		}
		s := from.AsDecimal()
		if to.IsInteger() {
			return s.Precision-s.Scale >= to.AsDecimal().Precision
		}
		whole, room := s.Precision-s.Scale, to.Precision-to.Scale
		return whole > room || whole == room && to.Scale < s.Scale // rounding may carry into a new digit
	case from.IsTemporal() && to.IsTemporal():
		if castUsesEnv(from, to) {
			return true
		}
		return to.Nanos() && from.Kind != types.Time && !from.Nanos()
	}
	return false
}

// newCastStep returns the step for a pair of types that CastAllowed permits.
func newCastStep(from, to types.Type, zone *time.Location) castStep {
	switch {
	case sameValues(from, to):
		return nil
	case to.IsNested():
		return castParts(from, to, false, zone)
	case to.IsString() || to.IsBinary():
		return toText(from, to, zone)
	case from.IsString():
		return fromText(to, zone)
	case from.Kind == types.Boolean:
		return fromBoolean(to)
	case to.Kind == types.Boolean:
		return toBoolean
	case to.IsFloat():
		return toFloat(from, to)
	case from.IsFloat():
		return fromFloat(from, to)
	case from.Kind == types.Decimal || to.Kind == types.Decimal:
		return castDecimal(from, to)
	case from.IsTemporal():
		return castMoment(from, to, zone)
	}
	return castIntegers
}

// widerText reports whether to is a text or bytes type without padding and at least as long as from.
// Unless the user wrote a CAST such values pass as they are, even those of foreign tables that are
// longer than they are declared.
func widerText(from, to types.Type) bool {
	return (from.IsString() && to.Kind == types.VarChar || from.IsBinary() && to.Kind == types.VarBinary) && from.Precision <= to.Precision
}

// sameValues reports whether every value of from is, bit by bit, one of to.
func sameValues(from, to types.Type) bool {
	if column.PhysicalOf(from) != column.PhysicalOf(to) {
		return false
	}
	if from.IsNested() {
		for i, f := range from.Fields {
			if !sameValues(f.Type, to.Fields[i].Type) {
				return false
			}
		}
		return !tightens(from, to)
	}
	switch {
	case to.IsString() || to.IsBinary():
		// A declared length is not relied upon: foreign tables hold longer values.
		return from.IsString() == to.IsString() && to.Precision == types.MaxLength
	case from.Kind == types.Decimal && to.Kind == types.Decimal:
		return from.Scale == to.Scale && from.Precision <= to.Precision
	case from.Kind != to.Kind:
		return from.IsInterval() || to.IsInterval()
	case from.IsTemporal():
		return from.Precision <= to.Precision && from.Nanos() == to.Nanos()
	}
	return true
}

// toText makes text of anything, and bytes of text and bytes.
func toText(from, to types.Type, zone *time.Location) castStep {
	fitted := to.Precision != types.MaxLength || to.Kind == types.Char || to.Kind == types.Binary
	var buf []byte
	if write := numberWriter(from); write != nil && !fitted {
		return func(r Rows, x Arg, out *column.Vector, _ func(int) error) error {
			t := newText(out, r.N).within(r)
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				out.Bytes = write(out.Bytes, x.Vector, x.At(i))
				t.end(i)
			}
			return t.finish()
		}
	}
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		t := newText(out, r.N).within(r)
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			j := x.At(i)
			if from.IsBinary() && to.IsString() && !utf8.Valid(x.Value(j)) {
				if err := bad(i); err != nil {
					return err
				}
				t.end(i)
				continue
			}
			if fitted {
				buf = appendValue(buf[:0], x.Vector, j, zone)
				out.Bytes = types.AppendFitted(out.Bytes, buf, to)
			} else {
				out.Bytes = appendValue(out.Bytes, x.Vector, j, zone)
			}
			t.end(i)
		}
		return t.finish()
	}
}

// numberWriter returns what appends the text of an exact number or a date, chosen once for all rows; nil for other
// types.
func numberWriter(t types.Type) func(dst []byte, v *column.Vector, i int) []byte {
	switch {
	case t.Kind == types.Int:
		return func(dst []byte, v *column.Vector, i int) []byte { return types.AppendInt(dst, int64(v.I32[i])) }
	case t.Kind == types.BigInt:
		return func(dst []byte, v *column.Vector, i int) []byte { return types.AppendInt(dst, v.I64[i]) }
	case t.IsInteger():
		return func(dst []byte, v *column.Vector, i int) []byte { return types.AppendInt(dst, v.Int64(i)) }
	case t.Kind == types.Decimal && !t.Wide():
		scale := t.Scale
		return func(dst []byte, v *column.Vector, i int) []byte { return types.AppendDecimal64(dst, v.I64[i], scale) }
	case t.Kind == types.Date:
		return func(dst []byte, v *column.Vector, i int) []byte { return types.AppendDate(dst, v.I32[i]) }
	}
	return nil
}

func fromText(to types.Type, zone *time.Location) castStep {
	// One value is parsed into row 0 of one, then copied: text casts are dominated by the parsing.
	one := column.New(to, 1)
	if to.IsInteger() {
		return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				v, err := types.ParseInt(x.text(i), to.Kind)
				if err != nil {
					if err := bad(i); err != nil {
						return err
					}
					continue
				}
				setInt(out, i, v)
			}
			return nil
		}
	}
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			b := x.Value(x.At(i))
			one.Reset()
			if err := parseText(b, one, to, zone); err != nil {
				if err := bad(i); err != nil {
					return err
				}
				continue
			}
			copyRow(out, i, one, 0)
		}
		return nil
	}
}

// copyRow copies a value of a fixed-width physical form.
func copyRow(dst *column.Vector, i int, src *column.Vector, j int) {
	switch column.PhysicalOf(dst.Type) {
	case column.PhysBool:
		dst.Bool[i] = src.Bool[j]
	case column.PhysI8:
		dst.I8[i] = src.I8[j]
	case column.PhysI16:
		dst.I16[i] = src.I16[j]
	case column.PhysI32:
		dst.I32[i] = src.I32[j]
	case column.PhysI64:
		dst.I64[i] = src.I64[j]
	case column.PhysI128:
		dst.I128[i] = src.I128[j]
	case column.PhysF32:
		dst.F32[i] = src.F32[j]
	case column.PhysF64:
		dst.F64[i] = src.F64[j]
	}
}

func fromBoolean(to types.Type) castStep {
	one := types.Int128From(1)
	if to.Kind == types.Decimal {
		one, _ = one.Rescale(0, to.Scale)
	}
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			b := x.Bool[x.At(i)]
			switch {
			case to.Kind == types.Float:
				out.F32[i] = float32(b2i(b))
			case to.Kind == types.Double:
				out.F64[i] = float64(b2i(b))
			case to.Kind == types.Decimal:
				v := types.Int128{}
				if b {
					v = one
				}
				if !v.Fits(to.Precision) {
					if err := bad(i); err != nil {
						return err
					}
					continue
				}
				setDecimal(out, i, v)
			default:
				setInt(out, i, int64(b2i(b)))
			}
		}
		return nil
	}
}

func setDecimal(out *column.Vector, i int, v types.Int128) {
	if out.Type.Wide() {
		out.I128[i] = v
	} else {
		out.I64[i] = int64(v.Lo)
	}
}

func toBoolean(r Rows, x Arg, out *column.Vector, _ func(int) error) error {
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		out.Bool[i] = x.Int64(x.At(i)) != 0
	}
	return nil
}

func toFloat(from, to types.Type) castStep {
	get := floatOf(from)
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		if to.Kind == types.Float {
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				f := get(x.Vector, x.At(i))
				out.F32[i] = float32(f)
				if math.IsInf(float64(out.F32[i]), 0) && !math.IsInf(f, 0) {
					if err := bad(i); err != nil {
						return err
					}
				}
			}
			return nil
		}
		switch column.PhysicalOf(from) {
		case column.PhysI32:
			widen(x, r, x.I32, out.F64)
		case column.PhysF32:
			widen(x, r, x.F32, out.F64)
		default:
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				out.F64[i] = get(x.Vector, x.At(i))
			}
		}
		return nil
	}
}

// widen converts without loss.
func widen[S, D number](x Arg, r Rows, src []S, dst []D) {
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		dst[i] = D(src[x.At(i)])
	}
}

// floatOf returns a reader of a numeric type as float64.
func floatOf(t types.Type) func(v *column.Vector, i int) float64 {
	switch {
	case t.Kind == types.Float:
		return func(v *column.Vector, i int) float64 { return float64(v.F32[i]) }
	case t.Kind == types.Double:
		return func(v *column.Vector, i int) float64 { return v.F64[i] }
	case t.Kind == types.Decimal && !t.Wide():
		scale := t.Scale
		pow := float64(types.Pow10Int64(scale))
		return func(v *column.Vector, i int) float64 {
			x := v.I64[i]
			if -1<<53 <= x && x <= 1<<53 {
				return float64(x) / pow // both exact: the quotient is the nearest
			}
			return types.DecimalToFloat64(types.Int128From(x), scale)
		}
	case t.Kind == types.Decimal:
		return func(v *column.Vector, i int) float64 { return types.DecimalToFloat64(v.I128[i], t.Scale) }
	}
	return func(v *column.Vector, i int) float64 { return float64(v.Int64(i)) }
}

// fromFloat truncates towards zero into integers and rounds half up into decimals.
func fromFloat(from, to types.Type) castStep {
	get := floatOf(from)
	var text []byte
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			f := get(x.Vector, x.At(i))
			ok := false
			switch {
			case to.Kind != types.Decimal:
				var v int64
				if v, ok = truncate(f, to.Kind); ok {
					setInt(out, i, v)
				}
			case from.Kind == types.Float && !math.IsNaN(f) && !math.IsInf(f, 0):
				// The digits of a FLOAT are those of its own shortest text, not of the DOUBLE it equals.
				text = strconv.AppendFloat(text[:0], f, 'g', -1, 32)
				v, err := types.ParseDecimal(text, to.Precision, to.Scale)
				if ok = err == nil; ok {
					setDecimal(out, i, v)
				}
			default:
				var v types.Int128
				if v, ok = types.Float64ToDecimal(f, to); ok {
					setDecimal(out, i, v)
				}
			}
			if !ok {
				if err := bad(i); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func truncate(f float64, k types.Kind) (int64, bool) {
	f = math.Trunc(f)
	if !(f >= -1<<63 && f < 1<<63) { // NaN included
		return 0, false
	}
	return int64(f), types.IntInRange(int64(f), k)
}

// castDecimal converts between decimals and integers: decimals are dropped on the way to an integer and
// rounded half up on the way to a smaller scale.
func castDecimal(from, to types.Type) castStep {
	s := from
	if from.Kind != types.Decimal {
		s = from.AsDecimal()
	}
	narrow := !s.Wide() && to.Kind == types.Decimal && !to.Wide()
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			j := x.At(i)
			ok := false
			switch {
			case narrow:
				var v int64
				if v, ok = types.RescaleInt64(x.Int64(j), s.Scale, to.Scale); ok {
					ok = types.FitsInt64(v, to.Precision)
					out.I64[i] = v
				}
			case to.Kind == types.Decimal:
				var v types.Int128
				if from.Kind == types.Decimal {
					v = x.Int128(j)
				} else {
					v = types.Int128From(x.Int64(j))
				}
				if v, ok = types.RescaleDecimal(v, s.Scale, to); ok {
					setDecimal(out, i, v)
				}
			default:
				var v int64
				if v, ok = types.DecimalToInt64(x.Int128(j), s.Scale); ok {
					if ok = types.IntInRange(v, to.Kind); ok {
						setInt(out, i, v)
					}
				}
			}
			if !ok {
				if err := bad(i); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// castIntegers converts among integers, and intervals of the same unit.
func castIntegers(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
	if x.Type.Kind == types.Int && out.Type.Kind == types.BigInt {
		widen(x, r, x.I32, out.I64)
		return nil
	}
	k := out.Type.Kind
	for n, m := 0, r.Count(); n < m; n++ {
		i := r.Row(n)
		v := x.Int64(x.At(i))
		if !types.IntInRange(v, k) {
			if err := bad(i); err != nil {
				return err
			}
			continue
		}
		setInt(out, i, v)
	}
	return nil
}

// castMoment converts among DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ. A DATE is its midnight, a TIME is on
// 1970-01-01, and TIMESTAMP_LTZ is seen on a clock in zone.
func castMoment(from, to types.Type, zone *time.Location) castStep {
	convert := func(v int64) (int64, bool) {
		t := from
		ok := true
		// First to a TIMESTAMP or TIMESTAMP_LTZ.
		switch from.Kind {
		case types.Date:
			t = types.WithPrecision(types.Timestamp, 0)
			if to.Nanos() {
				t.Precision = 9
			}
			v, ok = types.TimestampOf(v*86_400, 0, t)
		case types.Time:
			t = types.WithPrecision(types.Timestamp, 3)
			v, ok = types.TimestampOf(v/1000, int(v%1000)*1_000_000, t)
		}
		if !ok {
			return 0, false
		}
		// Then to the target's clock, at the finest precision of the two.
		switch {
		case t.Kind == types.TimestampLTZ && to.Kind != types.TimestampLTZ:
			v, ok = types.InstantToLocal(v, t, zone)
			t.Kind = types.Timestamp
		case t.Kind == types.Timestamp && to.Kind == types.TimestampLTZ:
			v, ok = types.LocalToInstant(v, t, zone)
			t.Kind = types.TimestampLTZ
		}
		if !ok {
			return 0, false
		}
		switch to.Kind {
		case types.Date:
			days, _ := types.SplitTimestamp(v, t)
			return int64(days), true
		case types.Time:
			_, rest := types.SplitTimestamp(v, t)
			return cutMillis(rest/(t.PerSecond()/1000), to.Precision), true
		}
		return types.RescaleTimestamp(v, t, to)
	}
	if from.Kind == types.Time && to.Kind == types.Time {
		convert = func(v int64) (int64, bool) { return cutMillis(v, to.Precision), true }
	}
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			v, ok := convert(x.Int64(x.At(i)))
			if !ok {
				if err := bad(i); err != nil {
					return err
				}
				continue
			}
			setInt(out, i, v)
		}
		return nil
	}
}

// cutMillis drops the decimals of a TIME beyond p.
func cutMillis(ms int64, p int) int64 {
	if p >= 3 {
		return ms
	}
	unit := types.Pow10Int64(3 - p)
	return ms - ms%unit
}
