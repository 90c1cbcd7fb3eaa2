package exec

import "github.com/sluice-sql/sluice/column"

// emit hands a batch to the next operator of the chain. The batch is lent until emit returns; then its
// vectors may hold other rows. An operator that gets an error returns it unchanged.
type emit func(b *column.Batch) error

// operator is one step of a chain, used by one goroutine. Batches may carry a selection; results of
// expressions stand at the same physical rows.
type operator interface {
	// process takes a batch, which is lent, and hands on what comes of it.
	process(b *column.Batch, out emit) error
	// finish is called after the last batch and hands on what was kept.
	finish(out emit) error
	// close frees what the operator holds; it is called once, also after an error.
	close()
}

// done is returned by an operator that wants no more input though it did not end: the chain below it is
// stopped and the operator finished.
type done struct{ op operator }

func (done) Error() string { return errStopped.Error() }

// cancelMask says how often a loop that takes long without handing anything on asks whether the pipeline
// is to end: every 65,536 steps, which is a few milliseconds at most.
const cancelMask = 1<<16 - 1

// stateless is embedded by operators that keep no rows.
type stateless struct{}

func (stateless) finish(emit) error { return nil }
func (stateless) close()            {}
