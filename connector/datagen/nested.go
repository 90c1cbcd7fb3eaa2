package datagen

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// record makes ROWs.
type record struct{ fields []generator }

func (g *record) size() int64 {
	n := int64(0)
	for _, f := range g.fields {
		n += f.size()
	}
	return n
}

func (g *record) fill(v *column.Vector, a rows) {
	v.Reset()
	v.Len = a.n
	for i, f := range g.fields {
		f.fill(v.Children[i], a)
	}
}

func (f *fields) row(path string, t types.Type) (generator, error) {
	g := &record{}
	for _, field := range t.Fields {
		c, err := f.part(path+"."+field.Name, field.Type)
		if err != nil {
			return nil, err
		}
		g.fields = append(g.fields, c)
	}
	return g, nil
}

// collection makes ARRAYs, MAPs and MULTISETs. All are of one length, but that a key comes once only.
type collection struct {
	length int
	parts  []generator // of the children
	unique bool        // the first child's values are, within a row
}

func (g *collection) size() int64 {
	n := int64(0)
	for _, p := range g.parts {
		n += min(p.size(), maxRow) * int64(g.length) // no product of lengths is too large for it
	}
	return n + 4
}

func (g *collection) fill(v *column.Vector, a rows) {
	v.Reset()
	elements := a
	elements.row, elements.n = a.row*uint64(g.length), a.n*g.length
	if g.unique && g.length > 1 {
		g.fillUnique(v, a.n, elements)
		return
	}
	for i, p := range g.parts {
		p.fill(v.Children[i], elements)
	}
	v.Len = a.n
	for i := range a.n {
		v.Offsets = append(v.Offsets, int32((i+1)*g.length))
	}
}

// fillUnique makes rows of the entries whose keys are not there yet.
func (g *collection) fillUnique(v *column.Vector, n int, elements rows) {
	all := make([]*column.Vector, len(g.parts))
	for i, p := range g.parts {
		all[i] = column.New(v.Children[i].Type, elements.n)
		p.fill(all[i], elements)
	}
	known := &known{keys: all[:1]}
	for i := range n {
		known.reset(g.length)
		for e := i * g.length; e < (i+1)*g.length; e++ {
			if known.add(e) {
				for k, c := range v.Children {
					c.AppendFrom(all[k], e)
				}
			}
		}
		v.EndRow()
	}
}

// known are the keys that a row has already: a list, or, of many, by their hashes.
type known struct {
	keys   []*column.Vector // the one vector of all
	list   []int
	byHash map[uint64][]int
}

func (k *known) reset(n int) {
	k.list, k.byHash = k.list[:0], nil
	if n > 16 {
		k.byHash = make(map[uint64][]int, n)
	}
}

// add reports whether the key at e was not known.
func (k *known) add(e int) bool {
	same, h := k.list, uint64(0)
	if k.byHash != nil {
		h = column.HashRow(k.keys[0], e)
		same = k.byHash[h]
	}
	for _, other := range same {
		if column.EqualRows(k.keys, other, k.keys, e) {
			return false
		}
	}
	if k.byHash != nil {
		k.byHash[h] = append(same, e)
	} else {
		k.list = append(k.list, e)
	}
	return true
}

func (f *fields) collection(path string, t types.Type) (generator, error) {
	n, err := f.number("length", 3, 0, maxLength)
	if err != nil {
		return nil, err
	}
	g := &collection{length: int(n), unique: t.Kind != types.Array}
	names := []string{"element"}
	if t.Kind == types.Map {
		names = []string{"key", "value"}
	}
	for i, field := range t.Fields {
		p, err := f.part(path+"."+names[i], field.Type)
		if err != nil {
			return nil, err
		}
		g.parts = append(g.parts, p)
	}
	if t.Kind == types.Multiset { // how often an element is there
		g.parts = append(g.parts, &integer{name: name(path + "\x00count"), min: 1, span: 10})
	}
	return g, nil
}
