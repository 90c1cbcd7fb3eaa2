package types

// RowKind says what a row does to a result: Flink's four kinds of change.
type RowKind uint8

// The row kinds.
const (
	Insert       RowKind = iota // +I
	UpdateBefore                // -U
	UpdateAfter                 // +U
	Delete                      // -D
)

// String returns the short form, such as +I.
func (k RowKind) String() string { return [...]string{"+I", "-U", "+U", "-D"}[k] }
