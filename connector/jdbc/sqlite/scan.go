package sqlite

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/hex"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// A text buffer begins at startBytes and doubles while batches end early for lack of room, up to
// mostBytes; a single value may take more.
const (
	startBytes = 32 << 10
	mostBytes  = 8 << 20
)

// scanColumn is a column to read: its name, the type it is read as, what SQLite may hold in it.
type scanColumn struct {
	name             string
	t                types.Type
	anyText, hexBlob bool
}

// scanKey is how a row is named in an error: by rowid, by key columns, or by its number in the scan.
type scanKey struct {
	rowid bool
	names []string
}

// MisfitError says that a cell is no value of its column's type.
type MisfitError struct {
	Table, Column, Key, Value, Held string
	Type                            types.Type
	setting                         func(key, value string) string // as one writes it
	number                          bool                           // the cell is one
}

// Error names table, column, row and value, and the ways around.
func (e *MisfitError) Error() string {
	if strings.HasPrefix(e.Held, "TEXT") && e.Type.IsString() {
		return fmt.Sprintf("table %s, column %s, %s: the text with the bytes %s is not valid UTF-8; %s reads such cells as NULL",
			e.Table, e.Column, e.Key, e.Value, e.setting("sqlite.misfit", "null"))
	}
	texts := ""
	switch e.Type.Kind {
	case types.Date:
		texts = ", whose texts are YYYY-MM-DD"
	case types.Timestamp:
		texts = ", whose texts are YYYY-MM-DD[ HH:MM[:SS[.f]]] without a time zone"
	}
	ways := fmt.Sprintf("%s reads such cells as NULL, %s reads the column as text",
		e.setting("sqlite.misfit", "null"), e.setting("sqlite.columns."+e.Table+"."+e.Column, "STRING"))
	if kind := e.Type.Kind; e.number && (kind == types.Date || kind == types.Timestamp || kind == types.TimestampLTZ) {
		texts = ""
		ways = e.setting("sqlite.temporal-numbers", "unix-seconds") + " reads numbers as times, and so do 'unix-millis' and 'julian'; " + ways
	}
	return fmt.Sprintf("table %s, column %s, %s: the %s value %s is not of type %s%s; %s", e.Table, e.Column, e.Key, e.Held, e.Value, e.Type.AsNullable(), texts, ways)
}

// scanner reads the rows of one statement into batches.
type scanner struct {
	store *Store
	table string
	cols  []scanColumn
	ts    []types.Type
	key   scanKey
	st    *stmt
	s     *C.sl_scan
	ccols []C.sl_col // the scan's columns, in C's memory
	want  []int      // bytes to give each text column's next buffer
	valid [][]uint64 // one bitmap a column, for the call
	rows  int64      // returned so far
	pin   runtime.Pinner
}

// newScanner prepares sql, whose result is the columns followed by the key's.
func newScanner(c *Conn, store *Store, table, sql string, cols []scanColumn, key scanKey) (*scanner, error) {
	st, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	s := &scanner{store: store, table: table, cols: cols, key: key, st: st}
	nkey, rowid := len(key.names), C.int(0)
	if key.rowid {
		nkey, rowid = 1, 1
	}
	s.s = C.sl_scan_new(st.p, C.int(len(cols)), C.int(nkey), rowid)
	if s.s == nil {
		st.close()
		return nil, &Error{Code: codeNoMem, Path: c.Path}
	}
	s.ccols = unsafe.Slice(s.s.cols, max(len(cols), 1))
	for i, col := range cols {
		k := &s.ccols[i]
		k.form, k.flags = formOf(col.t)
		if col.anyText {
			k.flags |= C.SL_ANYTEXT
		}
		if col.hexBlob {
			k.flags |= C.SL_HEXBLOB
		}
		k.precision, k.scale = C.int32_t(col.t.Precision), C.int32_t(col.t.Scale)
		s.ts = append(s.ts, col.t)
		s.want = append(s.want, startBytes)
		s.valid = append(s.valid, make([]uint64, (column.DefaultRows+63)/64))
	}
	return s, nil
}

// start binds the parameters and begins the statement anew.
func (s *scanner) start(args ...any) error {
	C.sl_reset(s.st.p) // its code repeats the error of the last step, which was reported
	s.s.pending, s.s.done = 0, 0
	return s.st.bind(args)
}

// stop ends the statement, keeping it for another start.
func (s *scanner) stop() { C.sl_reset(s.st.p) }

func (s *scanner) close() {
	if s.s != nil {
		C.sl_scan_free(s.s)
		s.s = nil
		s.st.close()
	}
}

// read fills b with the next rows and reports whether there may be more.
func (s *scanner) read(ctx context.Context, b *column.Batch) (more bool, err error) {
	s.prepareBatch(b)
	for {
		s.lend(b)
		var n C.int
		stop := s.st.c.interruptOn(ctx)
		rc := C.sl_scan_rows(s.s, column.DefaultRows, &n)
		stop()
		s.pin.Unpin()
		if rc != 100 && rc != 101 {
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			return false, s.st.c.newError(int(rc))
		}
		grown := false
		for i := range s.cols {
			if need := int(s.ccols[i].need); need > 0 {
				s.want[i] = max(min(2*s.want[i], mostBytes), need)
				if n == 0 { // one value is larger than the buffer
					b.Cols[i].Bytes = make([]byte, 0, max(need, s.want[i]))
					grown = true
				}
			}
		}
		if grown {
			continue
		}
		if err := s.finish(b, int(n)); err != nil {
			return false, err
		}
		s.rows += int64(n)
		return rc == 100, nil
	}
}

// prepareBatch makes b's own vectors fit: of the right types, with room for a full batch.
func (s *scanner) prepareBatch(b *column.Batch) {
	fits := !b.Shared && len(b.Cols) == len(s.ts)
	for i := 0; fits && i < len(b.Cols); i++ {
		fits = b.Cols[i] != nil && b.Cols[i].Type.SameKind(s.ts[i])
	}
	if !fits {
		*b = *column.NewBatch(s.ts, column.DefaultRows)
	}
	b.Sel, b.Kind, b.Shared = nil, nil, false
	for i, v := range b.Cols {
		v.Resize(column.DefaultRows)
		if column.PhysicalOf(v.Type) == column.PhysBytes {
			if cap(v.Offsets) < column.DefaultRows+1 {
				v.Offsets = make([]int32, column.DefaultRows+1)
			}
			if cap(v.Bytes) < s.want[i] {
				v.Bytes = make([]byte, 0, s.want[i])
			}
		}
	}
}

// lend pins b's buffers and shows them to C, until Unpin.
func (s *scanner) lend(b *column.Batch) {
	for i, v := range b.Cols {
		k := &s.ccols[i]
		s.pin.Pin(&s.valid[i][0])
		k.valid = (*C.uint64_t)(unsafe.Pointer(&s.valid[i][0]))
		k.data = s.lendData(v)
		if column.PhysicalOf(v.Type) == column.PhysBytes {
			v.Offsets = v.Offsets[:column.DefaultRows+1]
			s.pin.Pin(&v.Offsets[0])
			k.off = (*C.int32_t)(unsafe.Pointer(&v.Offsets[0]))
			k.cap = C.int64_t(cap(v.Bytes))
		}
	}
}

func (s *scanner) lendData(v *column.Vector) unsafe.Pointer {
	p := dataPointer(v)
	if p != nil {
		s.pin.Pin(p)
	}
	return p
}

// dataPointer returns the address of a vector's values or bytes, nil when it has none.
func dataPointer(v *column.Vector) unsafe.Pointer {
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		return unsafe.Pointer(unsafe.SliceData(v.Bool))
	case column.PhysI8:
		return unsafe.Pointer(unsafe.SliceData(v.I8))
	case column.PhysI16:
		return unsafe.Pointer(unsafe.SliceData(v.I16))
	case column.PhysI32:
		return unsafe.Pointer(unsafe.SliceData(v.I32))
	case column.PhysI64:
		return unsafe.Pointer(unsafe.SliceData(v.I64))
	case column.PhysI128:
		return unsafe.Pointer(unsafe.SliceData(v.I128))
	case column.PhysF32:
		return unsafe.Pointer(unsafe.SliceData(v.F32))
	case column.PhysF64:
		return unsafe.Pointer(unsafe.SliceData(v.F64))
	case column.PhysBytes:
		return unsafe.Pointer(unsafe.SliceData(v.Bytes))
	}
	return nil
}

// finish gives b its n rows and decides the odd cells.
func (s *scanner) finish(b *column.Batch, n int) error {
	b.N = n
	for i, v := range b.Cols {
		v.Resize(n)
		if column.PhysicalOf(v.Type) == column.PhysBytes {
			v.Len = n
			v.Offsets = v.Offsets[:n+1]
			v.Bytes = v.Bytes[:v.Offsets[n]]
		}
		if s.ccols[i].nulls > 0 {
			v.Valid = append(column.Bitmap(nil), s.valid[i][:(n+63)/64]...)
		}
	}
	for _, o := range unsafe.Slice(s.s.odd, int(s.s.nodd)) {
		if err := s.decide(&o, b.Cols[o.col]); err != nil {
			return err
		}
	}
	for i, v := range b.Cols {
		if s.cols[i].t.NotNull && v.Valid != nil && v.NullCount() > 0 {
			for r := 0; r < n; r++ {
				if v.IsNull(r) {
					return fmt.Errorf("table %s, column %s, row %d of the scan: NULL in a column that is declared NOT NULL or PRIMARY KEY", s.table, s.cols[i].name, s.rows+int64(r)+1)
				}
			}
		}
	}
	return nil
}

// decide gives an odd cell its value, NULL, or an error.
func (s *scanner) decide(o *C.sl_odd, v *column.Vector) error {
	col := &s.cols[o.col]
	row := int(o.row)
	text := s.kept(int(o.at), int(o.len))
	whole := int64(o.len) == int64(o.total)
	switch o._type {
	case 3:
		if col.t.Kind == types.Decimal && whole {
			if d, err := types.ParseDecimalExact(text, col.t.Precision, col.t.Scale); err == nil {
				setDecimal(v, row, d)
				return nil
			}
		}
	case 2:
		if col.t.Kind == types.Decimal {
			digits := strconv.AppendFloat(nil, float64(o.d), 'e', -1, 64)
			if d, err := types.ParseDecimalExact(digits, col.t.Precision, col.t.Scale); err == nil {
				setDecimal(v, row, d)
				return nil
			}
		}
		if setTemporal(v, row, col.t, s.store.TemporalNumbers, 0, float64(o.d), true) {
			return nil
		}
	case 1:
		if setTemporal(v, row, col.t, s.store.TemporalNumbers, int64(o.i), 0, false) {
			return nil
		}
	}
	if s.store.MisfitNull && !col.t.NotNull {
		v.SetNull(row)
		return nil
	}
	return s.misfit(o, text)
}

func (s *scanner) kept(at, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(s.s.arena), at)), n)
}

func (s *scanner) misfit(o *C.sl_odd, text []byte) error {
	col := s.cols[o.col]
	e := &MisfitError{Table: s.table, Column: col.name, Type: col.t, setting: s.store.setting, number: o._type == 1 || o._type == 2}
	switch o._type {
	case 1:
		e.Held, e.Value = "INTEGER", strconv.FormatInt(int64(o.i), 10)
	case 2:
		e.Held, e.Value = "REAL", strconv.FormatFloat(float64(o.d), 'g', -1, 64)
	case 3:
		e.Held, e.Value = "TEXT", "'"+clip(string(text), 60)+"'"
		if col.t.IsString() {
			e.Held, e.Value = "TEXT (not valid UTF-8)", "x'"+clip(hex.EncodeToString(text), 60)+"'"
		}
	case 4:
		e.Held, e.Value = "BLOB", "x'"+clip(hex.EncodeToString(text), 60)+"'"
	}
	switch {
	case s.key.rowid:
		e.Key = fmt.Sprintf("rowid %d", int64(o.key))
	case len(s.key.names) > 0:
		e.Key = "key " + string(s.kept(int(o.key), int(o.keylen)))
	default:
		e.Key = fmt.Sprintf("row %d", s.rows+int64(o.row)+1)
	}
	return e
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

func setDecimal(v *column.Vector, row int, d types.Int128) {
	if v.Type.Wide() {
		v.I128[row] = d
	} else {
		v.I64[row] = int64(d.Lo)
	}
}
