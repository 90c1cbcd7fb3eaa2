package column

// AppendVector appends to v the rows of src that sel names, or its first n when sel is nil. The two
// have the same physical form.
func (v *Vector) AppendVector(src *Vector, sel []uint16, n int) {
	if sel != nil {
		n = len(sel)
	}
	start := v.Len
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = gather(v.Bool, src.Bool, sel, n)
	case PhysI8:
		v.I8 = gather(v.I8, src.I8, sel, n)
	case PhysI16:
		v.I16 = gather(v.I16, src.I16, sel, n)
	case PhysI32:
		v.I32 = gather(v.I32, src.I32, sel, n)
	case PhysI64:
		v.I64 = gather(v.I64, src.I64, sel, n)
	case PhysI128:
		v.I128 = gather(v.I128, src.I128, sel, n)
	case PhysF32:
		v.F32 = gather(v.F32, src.F32, sel, n)
	case PhysF64:
		v.F64 = gather(v.F64, src.F64, sel, n)
	case PhysBytes:
		if sel == nil {
			base := int32(len(v.Bytes)) - src.Offsets[0]
			v.Bytes = append(v.Bytes, src.Bytes[src.Offsets[0]:src.Offsets[n]]...)
			for _, o := range src.Offsets[1 : n+1] {
				v.Offsets = append(v.Offsets, o+base)
			}
		} else {
			for _, i := range sel {
				if src.Valid.Get(int(i)) {
					v.Bytes = append(v.Bytes, src.Bytes[src.Offsets[i]:src.Offsets[i+1]]...)
				}
				v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
			}
		}
	}
	v.Len += n
	if src.Valid == nil && v.Valid == nil {
		return
	}
	v.needValid(v.Len)
	for i := 0; i < n; i++ {
		p := i
		if sel != nil {
			p = int(sel[i])
		}
		if src.Valid.Get(p) {
			v.Valid.Set(start + i)
		} else {
			v.Valid.Clear(start + i)
		}
	}
}

func gather[T any](dst, src []T, sel []uint16, n int) []T {
	if sel == nil {
		return append(dst, src[:n]...)
	}
	for _, i := range sel {
		dst = append(dst, src[i])
	}
	return dst
}
