package json

import "strings"

// keys finds names by what JSON has for them. Case matters, but a key that differs from a name in nothing
// else is rather a slip than another key.
type keys struct {
	exact  map[string]int
	folded map[string]int // by the name in lower case; -1: several have it
}

func newKeys(names []string) *keys {
	k := &keys{exact: map[string]int{}, folded: map[string]int{}}
	for i, name := range names {
		k.exact[name] = i
		low := strings.ToLower(name)
		if _, several := k.folded[low]; several {
			k.folded[low] = -1
		} else {
			k.folded[low] = i
		}
	}
	return k
}

// find returns the number of the name that is the key, -1 when there is none.
func (k *keys) find(key []byte) int {
	if i, ok := k.exact[string(key)]; ok {
		return i
	}
	return -1
}

// similar returns the number of the only name that is the key but for case, -1 when there is none.
func (k *keys) similar(key []byte) int {
	if i, ok := k.folded[strings.ToLower(string(key))]; ok {
		return i
	}
	return -1
}
