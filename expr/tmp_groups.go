package expr

func mathFunctions() []Function       { return nil }
func stringFunctions() []Function     { return nil }
func patternFunctions() []Function    { return nil }
func hashFunctions() []Function       { return nil }
func temporalFunctions() []Function   { return nil }
func clockFunctions() []Function      { return nil }
func conversionFunctions() []Function { return nil }
