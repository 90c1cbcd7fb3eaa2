package column

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/sluice-sql/sluice/types"
	"github.com/stretchr/testify/require"
)

func TestCodecRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for n := 0; n < 200; n++ {
		b := randomBatch(r, []int{0, 1, 63, 64, 65, 200}[n%6], n%2 == 0, n%3 == 0)
		if n%5 == 0 {
			b.Sel = randomSelection(r, b.N)
		}
		data := EncodeBatch([]byte("before"), b)
		require.Equal(t, "before", string(data[:6]))
		got, err := DecodeBatch(data[6:])
		require.NoError(t, err)
		requireSameRows(t, b, got)
		require.Nil(t, got.Sel)
		// One encoding for equal batches, also after more work on the decoded one.
		require.True(t, bytes.Equal(data[6:], EncodeBatch(nil, got)))
		got.AppendBatch(b)
		require.Equal(t, 2*b.Rows(), got.Rows())
		requireSameRows(t, b, got.Slice(b.Rows(), 2*b.Rows()))
		if n < 12 {
			for range 500 {
				_, err := DecodeBatch(data[6 : 6+r.IntN(len(data)-6)])
				require.Error(t, err)
			}
		}
		_, err = DecodeBatch(append(data[6:], 0))
		require.Error(t, err)
	}
}

func TestCodecWithoutColumns(t *testing.T) {
	b, err := DecodeBatch(EncodeBatch(nil, &Batch{N: 5}))
	require.NoError(t, err)
	require.Equal(t, 5, b.Rows())
}

func TestDecodeRefuses(t *testing.T) {
	head := []byte{codecVersion, 1, 1, 0}
	column := func(b ...byte) []byte { return append(bytes.Clone(head), b...) }
	for want, data := range map[string][]byte{
		"ends too early":        {},
		"version 9 is unknown":  {9, 0, 0, 0},
		"bad number of rows":    {codecVersion, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"bad number of columns": {codecVersion, 0, 9, 0},
		"bad mark of row kinds": {codecVersion, 0, 0, 2},
		"row kind 4 is unknown": {codecVersion, 1, 0, 1, 4},
		"unknown type":          column(99, 0, 0, 0),
		"the precision of DECIMAL must be between 1 and 38, not 0":   column(byte(types.Decimal), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		"the length of CHAR must be between 1 and 2147483647, not 0": column(byte(types.Char), 0, 0, 0),
		"bad flags of a column":               column(byte(types.Int), 4, 0, 0),
		"bad validity bitmap":                 column(byte(types.Int), 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0),
		"bad BOOLEAN 2":                       column(byte(types.Boolean), 0, 0, 0, 2),
		"more than 2 GiB of text in a column": column(byte(types.VarChar), 0, 9, 0, 0xff, 0xff, 0xff, 0xff),
		"text is not UTF-8":                   column(byte(types.VarChar), 0, 9, 0, 1, 0, 0, 0, 0xff),
		"1 bytes too many":                    column(byte(types.Null), 0, 0, 0, 7),
	} {
		_, err := DecodeBatch(data)
		require.EqualError(t, err, "encoded batch: "+want)
	}
	// Two rows whose border is inside a character.
	_, err := DecodeBatch([]byte{codecVersion, 2, 1, 0, byte(types.VarChar), 0, 9, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0xc3, 0xa4})
	require.EqualError(t, err, "encoded batch: text is not UTF-8")
}

// FuzzDecodeBatch checks that damaged input is refused without a crash or huge allocation, and that what
// decodes encodes and decodes again as the same rows.
func FuzzDecodeBatch(f *testing.F) {
	r := rand.New(rand.NewPCG(6, 6))
	for n := range 6 {
		f.Add(EncodeBatch(nil, randomBatch(r, n, n%2 == 0, n%3 == 0)))
	}
	for _, typ := range everyType() {
		b := NewBatch([]types.Type{typ}, 2)
		appendRandom(b.Cols[0], r)
		b.Cols[0].AppendNull()
		b.N = 2
		f.Add(EncodeBatch(nil, b))
	}
	f.Add([]byte{codecVersion, 0xff, 0xff, 0xff, 0xff, 7, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := DecodeBatch(data)
		if err != nil {
			return
		}
		if b.N > len(data) { // only rows without values, which need no space
			for _, v := range b.Cols {
				require.Equal(t, types.Null, v.Type.Kind)
			}
			return
		}
		again := EncodeBatch(nil, b)
		c, err := DecodeBatch(again)
		require.NoError(t, err)
		requireSameRows(t, b, c)
		require.True(t, bytes.Equal(again, EncodeBatch(nil, c)))
		out := make([]uint64, b.N)
		Hash(b.Cols, nil, b.N, out)
		var text []byte
		for _, v := range b.Cols {
			for i := 0; i < b.N; i++ {
				if !v.IsNull(i) {
					text = AppendText(text[:0], v, i, nil)
				}
			}
		}
	})
}
