package expr

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// The estimate is exact where it is promised to be and near beyond, also when it is put together from parts
// that know some of the values twice.
func TestApproxCountDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 3, 100, sketchExact, sketchExact + 1, 5000, 20_000, 50_000, 100_000, 1_000_000} {
		var whole, parts sketch
		v := column.New(types.Of(types.BigInt), n)
		for i := range n {
			v.AppendI64(int64(i) * 7)
		}
		var half [2]sketch
		for i := range n {
			whole.add(sketchHash(v, i))
			half[i%2].add(sketchHash(v, i))
			half[0].add(sketchHash(v, i/3))
		}
		for _, h := range half {
			_, err := parts.merge(h.encode(nil))
			require.NoError(t, err)
		}
		require.Equal(t, whole.estimate(), parts.estimate(), "%d values in parts", n)
		if n <= sketchExact {
			require.EqualValues(t, n, whole.estimate())
			continue
		}
		off := math.Abs(float64(whole.estimate())-float64(n)) / float64(n)
		require.Less(t, off, 0.025, "%d values estimated as %d", n, whole.estimate())
	}
	_, err := (&sketch{}).merge([]byte("rubbish"))
	require.Error(t, err)
}
