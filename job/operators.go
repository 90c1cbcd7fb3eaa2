package job

// operators makes an empty spec for each operator name.
func operators(op string) Spec {
	switch op {
	case "scan":
		return new(Scan)
	case "values":
		return new(Values)
	case "filter":
		return new(Filter)
	case "project":
		return new(Project)
	case "limit":
		return new(Limit)
	case "union":
		return new(Union)
	case "single-row":
		return new(SingleRow)
	case "aggregate":
		return new(Aggregate)
	case "join":
		return new(Join)
	case "unnest":
		return new(Unnest)
	case "sort":
		return new(Sort)
	case "sink":
		return new(Sink)
	case "collect":
		return new(Collect)
	}
	return nil
}
