package bind

import (
	"errors"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// dataType resolves a type as written.
func dataType(n sqlparse.TypeName) (types.Type, error) {
	t, err := typeAsWritten(n)
	if err == nil && t.TooDeep() {
		err = errAt(n.Span(), "types may be nested %d deep at most", types.MaxNesting)
	}
	return t, err
}

func typeAsWritten(n sqlparse.TypeName) (types.Type, error) {
	at := n.Span()
	switch n := n.(type) {
	case *sqlparse.ScalarType:
		switch n.Name {
		case "TIMESTAMP WITH TIME ZONE", "VARIANT", "BITMAP", "UUID", "GEOGRAPHY":
			return types.Type{}, notYet(at, "The type "+n.Name)
		case "NULL":
			return types.Type{}, errAt(at, "NULL is no type that a column or CAST can have")
		}
		text := n.Name
		if len(n.Params) > 0 {
			ps := make([]string, len(n.Params))
			for i, p := range n.Params {
				ps[i] = strconv.Itoa(p)
			}
			text += "(" + strings.Join(ps, ", ") + ")"
		}
		t, err := types.ParseType(text)
		if err != nil {
			return t, typeError(at, err)
		}
		return t.WithNullable(!n.NotNull), nil
	case *sqlparse.IntervalType:
		q := n.Qualifier
		text := "INTERVAL " + intervalUnit(q.From, q.FromPrecision)
		if q.From == "SECOND" && q.ToPrecision >= 0 {
			text = "INTERVAL " + intervalUnit(q.From, q.ToPrecision)
		}
		if q.To != "" {
			text += " TO " + intervalUnit(q.To, q.ToPrecision)
		}
		t, err := types.ParseType(text)
		if err != nil {
			return t, typeError(at, err)
		}
		return t.WithNullable(!n.NotNull), nil
	case *sqlparse.ArrayType:
		parts, err := nestedType(n.Elem)
		return types.Type{Kind: types.Array, NotNull: n.NotNull, Fields: parts}, err
	case *sqlparse.MultisetType:
		parts, err := nestedType(n.Elem)
		return types.Type{Kind: types.Multiset, NotNull: n.NotNull, Fields: parts}, err
	case *sqlparse.MapType:
		parts, err := nestedType(n.Key, n.Value)
		return types.Type{Kind: types.Map, NotNull: n.NotNull, Fields: parts}, err
	case *sqlparse.RowType:
		return rowType(n)
	case *sqlparse.StructuredType:
		return types.Type{}, notYet(at, "The type STRUCTURED")
	case *sqlparse.RawType:
		return types.Type{}, notYet(at, "The type RAW")
	case *sqlparse.NamedType:
		e := errAt(at, "Unknown data type '%s'", pathText(n.Name.Parts))
		if s := sqlparse.NearestType(n.Name.Last().Name); s != "" && len(n.Name.Parts) == 1 {
			e.Hint = "did you mean " + s + "?"
		}
		return types.Type{}, e
	}
	return types.Type{}, notYet(at, "this type")
}

func intervalUnit(unit string, precision int) string {
	if precision < 0 {
		return unit
	}
	return unit + "(" + strconv.Itoa(precision) + ")"
}

// typeError is the error for a type whose numbers are out of range; the text repeats nothing of the type,
// which ParseType puts around what is wrong with it.
func typeError(at sqlparse.Span, err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	msg := err.Error()
	return errAt(at, "%s", strings.ToUpper(msg[:1])+msg[1:])
}
