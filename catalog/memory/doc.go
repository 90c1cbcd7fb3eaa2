// Package memory is the catalog type generic_in_memory: databases, tables and their rows, all in the
// process and gone with it.
//
// A table without a 'connector' option keeps its rows here, in a connector/memory.Store; one with the
// option is only registered. CREATE TABLE AS collects its rows aside and publishes rows and
// registration by one swap under the catalog's lock, if the name is still free. ALTER TABLE swaps the
// definition and the rows likewise, and is refused while a job writes the table. The catalog cannot be
// serialised: jobs find the live instance by its name.
package memory
