package column

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/types"
)

// The encoded form of a batch, all numbers little-endian or unsigned varints:
//
//	byte     version, 1
//	varint   rows
//	varint   columns
//	byte     1 when row kinds follow, and then one byte for each row
//	columns, each:
//	  byte     type kind
//	  byte     bit 0: NOT NULL; bit 1: a validity bitmap follows
//	  varint   precision
//	  varint   scale
//	  of a nested type: varint, the number of its parts, and for each its name and comment (a varint and
//	           the bytes of each) and its type from the kind on, with flag bit 1 unset
//	  words    the bitmap, eight bytes for each 64 rows, bits past the last row 0
//	  values   rows of them in their physical width; for text and bytes, four bytes of length for each row,
//	           then the bytes; for ARRAY, MULTISET and MAP, four bytes of length for each row, then the
//	           elements as columns; for ROW, its fields as columns. These columns have no type of their own
//	           in front but begin with their flags.
//
// A batch is encoded dense. NULL rows have the value 0 or the length 0, so that equal batches have equal
// encodings.
const codecVersion = 1

// EncodeBatch appends the encoded form of the selected rows of b; see [DecodeBatch].
func EncodeBatch(dst []byte, b *Batch) []byte {
	n := b.Rows()
	dst = append(dst, codecVersion)
	dst = binary.AppendUvarint(dst, uint64(n))
	dst = binary.AppendUvarint(dst, uint64(len(b.Cols)))
	if b.Kind == nil {
		dst = append(dst, 0)
	} else {
		dst = append(dst, 1)
		for i := 0; i < n; i++ {
			dst = append(dst, byte(b.Kind[b.Row(i)]))
		}
	}
	for _, v := range b.Cols {
		dst = encodeVector(dst, v, b.Sel, n)
	}
	return dst
}

func encodeVector(dst []byte, v *Vector, sel []uint16, n int) []byte {
	flags := byte(0)
	if v.Type.NotNull {
		flags |= 1
	}
	nulls := hasNulls(v, sel, n)
	if nulls {
		flags |= 2
	}
	dst = encodeType(dst, v.Type, flags)
	return encodeValuesOf(dst, v, sel, n, nulls)
}

// encodeType appends a type, with its flags behind its kind.
func encodeType(dst []byte, t types.Type, flags byte) []byte {
	dst = append(dst, byte(t.Kind), flags)
	dst = binary.AppendUvarint(dst, uint64(t.Precision))
	dst = binary.AppendUvarint(dst, uint64(t.Scale))
	if !t.IsNested() {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(t.Fields)))
	for _, f := range t.Fields {
		dst = append(binary.AppendUvarint(dst, uint64(len(f.Name))), f.Name...)
		dst = append(binary.AppendUvarint(dst, uint64(len(f.Comment))), f.Comment...)
		flags := byte(0)
		if f.Type.NotNull {
			flags = 1
		}
		dst = encodeType(dst, f.Type, flags)
	}
	return dst
}

// encodeValuesOf appends the bitmap, when there are NULLs, and the values.
func encodeValuesOf(dst []byte, v *Vector, sel []uint16, n int, nulls bool) []byte {
	if nulls {
		var word uint64
		for k := 0; k < n; k++ {
			if v.Valid.Get(rowOf(sel, k)) {
				word |= 1 << (uint(k) & 63)
			}
			if k&63 == 63 || k == n-1 {
				dst = binary.LittleEndian.AppendUint64(dst, word)
				word = 0
			}
		}
	}
	valid := v.Valid
	if !nulls {
		valid = nil
	}
	le := binary.LittleEndian
	switch PhysicalOf(v.Type) {
	case PhysBool:
		for k := 0; k < n; k++ {
			var x byte
			if i := rowOf(sel, k); valid.Get(i) && v.Bool[i] {
				x = 1
			}
			dst = append(dst, x)
		}
	case PhysI8:
		dst = encodeValues(dst, v.I8, valid, sel, n, func(d []byte, x int8) []byte { return append(d, byte(x)) })
	case PhysI16:
		dst = encodeValues(dst, v.I16, valid, sel, n, func(d []byte, x int16) []byte { return le.AppendUint16(d, uint16(x)) })
	case PhysI32:
		dst = encodeValues(dst, v.I32, valid, sel, n, func(d []byte, x int32) []byte { return le.AppendUint32(d, uint32(x)) })
	case PhysI64:
		dst = encodeValues(dst, v.I64, valid, sel, n, func(d []byte, x int64) []byte { return le.AppendUint64(d, uint64(x)) })
	case PhysI128:
		dst = encodeValues(dst, v.I128, valid, sel, n, func(d []byte, x types.Int128) []byte {
			return le.AppendUint64(le.AppendUint64(d, x.Lo), uint64(x.Hi))
		})
	case PhysF32:
		dst = encodeValues(dst, v.F32, valid, sel, n, func(d []byte, x float32) []byte { return le.AppendUint32(d, math.Float32bits(x)) })
	case PhysF64:
		dst = encodeValues(dst, v.F64, valid, sel, n, func(d []byte, x float64) []byte { return le.AppendUint64(d, math.Float64bits(x)) })
	case PhysBytes:
		for k := 0; k < n; k++ {
			length := 0
			if i := rowOf(sel, k); valid.Get(i) {
				length = len(v.Value(i))
			}
			dst = le.AppendUint32(dst, uint32(length))
		}
		for k := 0; k < n; k++ {
			if i := rowOf(sel, k); valid.Get(i) {
				dst = append(dst, v.Value(i)...)
			}
		}
	case PhysList, PhysRow:
		dst = encodeNested(dst, v, valid, sel, n)
	}
	return dst
}

func hasNulls(v *Vector, sel []uint16, n int) bool {
	if v.Valid != nil {
		for k := 0; k < n; k++ {
			if !v.Valid.Get(rowOf(sel, k)) {
				return true
			}
		}
	}
	return false
}

func encodeValues[T any](dst []byte, values []T, valid Bitmap, sel []uint16, n int, put func([]byte, T) []byte) []byte {
	var zero T
	for k := 0; k < n; k++ {
		if i := rowOf(sel, k); valid.Get(i) {
			dst = put(dst, values[i])
		} else {
			dst = put(dst, zero)
		}
	}
	return dst
}

// DecodeBatch reads what [EncodeBatch] wrote. It checks everything that the engine relies on (lengths,
// types, row kinds, UTF-8), so that damaged input is an error and never a wrong batch in memory. The
// batch shares no memory with data.
func DecodeBatch(data []byte) (*Batch, error) {
	d := decoder{data: data}
	b := d.batch()
	if d.err == nil && len(d.data) > 0 {
		d.fail("%d bytes too many", len(d.data))
	}
	if d.err != nil {
		return nil, fmt.Errorf("encoded batch: %w", d.err)
	}
	return b, nil
}

type decoder struct {
	data []byte
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
		d.data = nil
	}
}

// take returns the next n bytes, nil and an error when there are fewer.
func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.fail("ends too early")
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); d.err == nil {
		return b[0]
	}
	return 0
}

// uvarint reads a number of at most most.
func (d *decoder) uvarint(most int, what string) int {
	v, n := binary.Uvarint(d.data)
	if n <= 0 || v > uint64(most) {
		d.fail("bad %s", what)
		return 0
	}
	d.data = d.data[n:]
	return int(v)
}

func (d *decoder) batch() *Batch {
	if v := d.byte(); d.err == nil && v != codecVersion {
		d.fail("version %d is unknown", v)
	}
	// A batch without columns may have any number of rows; each other row takes space in data.
	n := d.uvarint(math.MaxInt32, "number of rows")
	cols := d.uvarint(len(d.data), "number of columns")
	b := &Batch{N: n, Cols: make([]*Vector, 0, min(cols, 1024))}
	switch d.byte() {
	case 0:
	case 1:
		kinds := d.take(n)
		if d.err != nil {
			return nil
		}
		b.Kind = make([]types.RowKind, n)
		for i, k := range kinds {
			if types.RowKind(k) > types.Delete {
				d.fail("row kind %d is unknown", k)
			}
			b.Kind[i] = types.RowKind(k)
		}
	default:
		d.fail("bad mark of row kinds")
	}
	for i := 0; i < cols && d.err == nil; i++ {
		b.Cols = append(b.Cols, d.vector(n))
	}
	return b
}

func (d *decoder) vector(n int) *Vector {
	t, flags := d.typ(0)
	if d.err != nil {
		return nil
	}
	if err := t.Validate(); err != nil {
		d.fail("%w", err)
		return nil
	}
	return d.column(t, flags, n)
}

// typ reads what encodeType wrote; depth is how deep it is nested.
func (d *decoder) typ(depth int) (types.Type, byte) {
	t := types.Type{Kind: types.Kind(d.byte())}
	flags := d.byte()
	t.NotNull = flags&1 != 0
	t.Precision = d.uvarint(types.MaxLength, "precision")
	t.Scale = d.uvarint(types.MaxDecimalPrecision, "scale")
	if !t.IsNested() || d.err != nil {
		return t, flags
	}
	if depth >= types.MaxNesting {
		d.fail("a type is nested too deep")
		return t, flags
	}
	for i, n := 0, d.uvarint(len(d.data), "number of parts"); i < n && d.err == nil; i++ {
		f := types.Field{Name: string(d.take(d.uvarint(len(d.data), "name"))), Comment: string(d.take(d.uvarint(len(d.data), "comment")))}
		if !utf8.ValidString(f.Name) || !utf8.ValidString(f.Comment) {
			d.fail("the name of a field is not UTF-8")
		}
		var flags byte
		if f.Type, flags = d.typ(depth + 1); flags > 1 {
			d.fail("bad flags of a part")
		}
		t.Fields = append(t.Fields, f)
	}
	return t, flags
}

// column reads the rows of a column of a type that is known.
func (d *decoder) column(t types.Type, flags byte, n int) *Vector {
	if flags > 3 || t.Kind == types.Null && flags != 0 {
		d.fail("bad flags of a column")
		return nil
	}
	v := &Vector{Type: t, Len: n}
	if flags&2 != 0 {
		words := d.take((n + 63) / 64 * 8)
		if d.err != nil {
			return nil
		}
		v.Valid = make(Bitmap, len(words)/8)
		for i := range v.Valid {
			v.Valid[i] = binary.LittleEndian.Uint64(words[8*i:])
		}
		if r := uint(n) & 63; r != 0 && v.Valid[len(v.Valid)-1]>>r != 0 || n == 0 {
			d.fail("bad validity bitmap")
			return nil
		}
	}
	d.values(v, n)
	return v
}

func (d *decoder) values(v *Vector, n int) {
	le := binary.LittleEndian
	switch PhysicalOf(v.Type) {
	case PhysBool:
		b := d.take(n)
		v.Bool = make([]bool, len(b))
		for i, x := range b {
			if x > 1 {
				d.fail("bad BOOLEAN %d", x)
				return
			}
			v.Bool[i] = x == 1
		}
	case PhysI8:
		v.I8 = decodeValues(d, n, 1, func(b []byte) int8 { return int8(b[0]) })
	case PhysI16:
		v.I16 = decodeValues(d, n, 2, func(b []byte) int16 { return int16(le.Uint16(b)) })
	case PhysI32:
		v.I32 = decodeValues(d, n, 4, func(b []byte) int32 { return int32(le.Uint32(b)) })
	case PhysI64:
		v.I64 = decodeValues(d, n, 8, func(b []byte) int64 { return int64(le.Uint64(b)) })
	case PhysI128:
		v.I128 = decodeValues(d, n, 16, func(b []byte) types.Int128 {
			return types.Int128{Lo: le.Uint64(b), Hi: int64(le.Uint64(b[8:]))}
		})
	case PhysF32:
		v.F32 = decodeValues(d, n, 4, func(b []byte) float32 { return math.Float32frombits(le.Uint32(b)) })
	case PhysF64:
		v.F64 = decodeValues(d, n, 8, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) })
	case PhysBytes:
		d.text(v, n)
	case PhysList, PhysRow:
		d.nested(v, n)
	}
}

func decodeValues[T any](d *decoder, n, width int, get func([]byte) T) []T {
	b := d.take(n * width)
	values := make([]T, len(b)/width)
	for i := range values {
		values[i] = get(b[i*width:])
	}
	return values
}

func (d *decoder) text(v *Vector, n int) {
	lengths := d.take(n * 4)
	if d.err != nil {
		return
	}
	v.Offsets = make([]int32, n+1)
	total := int64(0)
	for i := 0; i < n; i++ {
		total += int64(binary.LittleEndian.Uint32(lengths[4*i:]))
		if total > math.MaxInt32 {
			d.fail("more than 2 GiB of text in a column")
			return
		}
		v.Offsets[i+1] = int32(total)
	}
	v.Bytes = append([]byte(nil), d.take(int(total))...)
	if d.err != nil || !v.Type.IsString() {
		return
	}
	if utf8.Valid(v.Bytes) {
		// The whole is valid; so is each part when none begins inside a character.
		for _, o := range v.Offsets[:n] {
			if int(o) < len(v.Bytes) && !utf8.RuneStart(v.Bytes[o]) {
				d.fail("text is not UTF-8")
				return
			}
		}
		return
	}
	d.fail("text is not UTF-8")
}
