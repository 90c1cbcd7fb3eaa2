package sqlparse

// Walk calls f for a node and everything below it, parents first and in the
// order of the text; where f returns false, what is below is left out. Chains
// of any length are walked without recursion.
func Walk(n Node, f func(Node) bool) {
	stack := []Node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !f(n) {
			continue
		}
		from := len(stack)
		n.children(func(c Node) { stack = append(stack, c) })
		for i, j := from, len(stack)-1; i < j; i, j = i+1, j-1 {
			stack[i], stack[j] = stack[j], stack[i]
		}
	}
}
