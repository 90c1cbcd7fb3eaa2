package session

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// Scope says who acts on an option.
type Scope string

// The scopes. Options of scope job travel in the job graph.
const (
	ScopeShell   Scope = "shell"
	ScopePlanner Scope = "planner"
	ScopeJob     Scope = "job"
	ScopeSession Scope = "session"
)

// Option is one key of SET.
type Option struct {
	Key   string
	Type  string // as documentation writes it: Boolean, Duration, Integer, Size, String, Zone, Enum
	Scope Scope
	// Default is the value without a SET, as text; where it depends on the machine, what it stands for.
	Default string
	// Allowed are the values of an Enum.
	Allowed []string
	// Aliases are names that Flink has for the option.
	Aliases []string
	Doc     string
	// Startup says that the option is read once, before the first statement: SET cannot change it.
	Startup bool
	// Fixed says that all values allowed so far mean the same.
	Fixed bool
	// check returns the value as it is kept, or what is wrong with it.
	check func(value string) (string, error)
}

// Values is what the option takes: its type, or the values of an Enum.
func (o Option) Values() string {
	if o.Allowed == nil {
		return o.Type
	}
	return strings.Join(o.Allowed, ", ")
}

// Keys of the options that code asks for by name.
const (
	keyCheckpoints    = "execution.checkpointing.interval"
	keyRuntimeMode    = "execution.runtime-mode"
	keyParallelism    = "parallelism.default"
	keyPipelineName   = "pipeline.name"
	keyBatchRows      = "sluice.batch-rows"
	keyColor          = "sluice.color"
	keyFormat         = "sluice.format"
	keyMaxRows        = "sluice.max-rows"
	keyMemory         = "sluice.memory"
	keyOnError        = "sluice.on-error"
	keyOptimizer      = "sluice.optimizer.enabled"
	keyOutput         = "sluice.output"
	keyPager          = "sluice.pager"
	keyTiming         = "sluice.timing"
	keyStorePath      = "table.catalog-store.file.path"
	keyStoreKind      = "table.catalog-store.kind"
	keyMaxColumnWidth = "table.display.max-column-width"
	keyDMLSync        = "table.dml-sync"
	keyZone           = "table.local-time-zone"
	keyAtomicity      = "table.rtas-ctas.atomicity-enabled"
	keyDialect        = "table.sql-dialect"
)

// Options returns the table of options that have an effect, by key. It is the one list that SET, help
// and documentation are printed from.
func Options() []Option {
	return []Option{
		{Key: keyCheckpoints, Type: "Duration", Scope: ScopeJob, Default: "1 s", check: checkInterval,
			Doc: "The time between two checkpoints of a streaming job, at least 10 ms: what it has written is committed, and visible, with each."},
		enum(Option{Key: keyRuntimeMode, Scope: ScopeJob, Default: "automatic",
			Doc: "How jobs run. automatic is streaming when a table that is read has no end, and batch else."},
			"automatic", "batch", "streaming"),
		{Key: keyParallelism, Type: "Integer", Scope: ScopeJob, Default: "the number of cores", check: integer(1, 1024),
			Doc: "How many tasks an operator may run as."},
		{Key: keyPipelineName, Type: "String", Scope: ScopeJob, check: anyText,
			Doc: "The name of the jobs to come; empty names each after what it does."},
		{Key: keyBatchRows, Type: "Integer", Scope: ScopeJob, Default: strconv.Itoa(column.DefaultRows), check: integer(1, column.MaxRows),
			Doc: "Rows that operators hand on at a time."},
		enum(Option{Key: keyColor, Scope: ScopeShell, Default: "auto",
			Doc: "Whether the shell colours what is typed and printed. auto is where a terminal shows colours and NO_COLOR is not set."},
			"auto", "always", "never"),
		enum(Option{Key: keyFormat, Scope: ScopeShell, Default: "tableau",
			Doc: "How rows are printed. \\G behind a statement prints its rows as vertical does."},
			"tableau", "box", "csv", "tsv", "json", "markdown", "vertical"),
		{Key: keyMaxRows, Type: "Integer", Scope: ScopeShell, Default: "10000", check: integer(1, 1<<40),
			Doc: "Rows of a query that are shown on a terminal before it is ended; in streaming mode Ctrl-C ends it."},
		{Key: keyMemory, Type: "Size", Scope: ScopeJob, Default: "a quarter of the machine's", check: checkSize,
			Doc: "Memory that the operators of all jobs may keep rows in, such as 512 mb."},
		enum(Option{Key: keyOnError, Scope: ScopeShell, Default: "stop",
			Doc: "What a script does after an error. With continue it runs to its end and still exits with 1."},
			"stop", "continue"),
		{Key: keyOptimizer, Type: "Boolean", Scope: ScopePlanner, Default: "true", Allowed: []string{"true", "false"}, check: boolean,
			Doc: "Whether plans are optimised. Off, the same rows come, more slowly."},
		{Key: keyOutput, Type: "String", Scope: ScopeShell, check: checkOutput,
			Doc: "The file that all rows are written to from then on, those of SHOW, DESCRIBE, EXPLAIN and \\d too, each result whole or not at all; empty prints them. The first result of a process takes the place of what the file held, the next are appended."},
		{Key: keyPager, Type: "String", Scope: ScopeShell, Default: "auto", check: checkPager,
			Doc: "What shows a result that does not fit the terminal: a command, off, or auto, which is $SLUICE_PAGER, else $PAGER, else less."},
		{Key: keyTiming, Type: "Boolean", Scope: ScopeShell, Default: "true", Allowed: []string{"true", "false"}, check: boolean,
			Aliases: []string{"sql-client.display.print-time-cost"},
			Doc:     "Whether a terminal shows the time that each statement took."},
		{Key: keyStorePath, Type: "String", Scope: ScopeSession, Default: "$XDG_CONFIG_HOME/sluice/catalogs", check: checkDirectory, Startup: true,
			Doc: "The directory that the catalog store file keeps the catalogs in; it is made when the first one is kept."},
		enum(Option{Key: keyStoreKind, Scope: ScopeSession, Default: "generic_in_memory", Startup: true,
			Doc: "Where the definitions of catalogs are kept: generic_in_memory for the session only, file until DROP CATALOG."},
			"generic_in_memory", "file"),
		{Key: keyMaxColumnWidth, Type: "Integer", Scope: ScopeShell, Default: "30", check: integer(1, 1<<20),
			Aliases: []string{"sql-client.display.max-column-width"},
			Doc:     "Columns of the screen that a value may take on a terminal."},
		enum(Option{Key: keyDMLSync, Scope: ScopeSession, Default: "auto",
			Doc: "Whether INSERT and CREATE TABLE AS wait for their job. With auto they do in batch mode, and in streaming mode it runs in the background."},
			"auto", "true", "false"),
		{Key: keyZone, Type: "Zone", Scope: ScopeJob, Default: "the machine's zone", check: checkZone,
			Doc: "The session's time zone: a name such as Europe/Berlin, or an offset such as +02:00."},
		{Key: keyAtomicity, Type: "Boolean", Scope: ScopePlanner, Default: "true", Allowed: []string{"true", "false"}, check: boolean,
			Doc: "Whether a CREATE TABLE AS whose target cannot be all or nothing is refused."},
		{Key: keyDialect, Type: "Enum", Scope: ScopePlanner, Default: "default", Allowed: []string{"default"}, Fixed: true, check: oneOf("default"),
			Doc: "The SQL dialect."},
	}
}

// enum makes an option of type Enum with the given values.
func enum(o Option, allowed ...string) Option {
	o.Type, o.Allowed, o.check = "Enum", allowed, oneOf(allowed...)
	return o
}

// idleNotes say of some keys without effect what takes their place.
func idleNotes() map[string]string {
	return map[string]string{
		"execution.checkpointing.mode":               "each row is committed once, as EXACTLY_ONCE has it",
		"execution.checkpointing.min-pause":          "a checkpoint that is late is not made up for",
		"execution.checkpointing.timeout":            "a checkpoint takes the time that the store takes",
		"sql-client.execution.result-mode":           "rows are printed as they come, as in mode TABLEAU; 'sluice.format' says how",
		"sql-client.execution.max-table-result.rows": "'sluice.max-rows' limits the rows that a terminal shows",
		"sql-client.display.color-schema":            "'sluice.color' says whether there are colours",
		"sql-client.verbose":                         "errors say all there is to say",
	}
}

// idlePrefixes begin the keys of Flink that tune its cluster or its streaming runtime and so can have no
// effect on what is computed here. A key that would change results is not among them: it is refused.
func idlePrefixes() []string {
	return []string{
		"akka.", "blob.", "classloader.", "client.", "cluster.", "containerized.", "env.", "execution.attached",
		"execution.batch-shuffle-mode", "execution.batch.", "execution.buffer-timeout",
		"execution.checkpointing.aligned-", "execution.checkpointing.checkpoints-after-", "execution.checkpointing.cleaner.", "execution.checkpointing.create-subdir",
		"execution.checkpointing.data-inline-threshold", "execution.checkpointing.dir", "execution.checkpointing.externalized-", "execution.checkpointing.file-merging.",
		"execution.checkpointing.incremental", "execution.checkpointing.interval-during-backlog", "execution.checkpointing.local-", "execution.checkpointing.max-",
		"execution.checkpointing.min-pause", "execution.checkpointing.mode", "execution.checkpointing.num-retained", "execution.checkpointing.savepoint-dir",
		"execution.checkpointing.storage", "execution.checkpointing.timeout", "execution.checkpointing.tolerable-", "execution.checkpointing.unaligned",
		"execution.checkpointing.write-buffer-size",
		"execution.shutdown-on-", "execution.target", "fs.", "heartbeat.", "high-availability", "io.", "job-result-store.",
		"jobmanager.", "jobstore.", "kubernetes.", "metrics.", "parallelism.max", "pekko.", "pipeline.auto-watermark-interval",
		"pipeline.cached-files", "pipeline.classpaths", "pipeline.generic-types", "pipeline.jars", "pipeline.max-parallelism",
		"pipeline.object-reuse", "pipeline.operator-chaining", "plugin.", "process.", "python.", "resourcemanager.", "rest.",
		"restart-strategy", "security.", "slot.", "slotmanager.", "sql-client.", "sql-gateway.", "state.", "table.builtin-",
		"table.catalog-modification.", "table.exec.async-", "table.exec.disabled-operators", "table.exec.mini-batch.",
		"table.exec.operator-fusion-codegen.", "table.exec.resource.", "table.exec.shuffle-mode", "table.exec.simplify-operator-name-enabled", "table.exec.sort.",
		"table.exec.spill-", "table.exec.state.", "table.exec.uid.", "table.exec.window-agg.",
		"table.generated-code.", "table.optimizer.", "table.plan.", "table.resources.", "taskmanager.", "web.", "yarn.", "zookeeper.",
	}
}

// refusedPrefixes begin the keys of Flink that would change what is computed or stored. Until they do they
// are refused, with a word of their own.
func refusedPrefixes() []string {
	return []string{
		"execution.state-recovery.", "table.cdc-source.", "table.column-expansion-strategy",
		"table.dynamic-table-options.", "table.exec.deduplicate.", "table.exec.interval-join.",
		"table.exec.legacy-", "table.exec.rank.", "table.exec.sink.",
		"table.exec.source.", "table.exec.unbounded-over.", "table.ml.",
	}
}

// options are the values of a session's options.
type options struct {
	table []Option
	env   *connector.Env
	zone  string // the machine's
	mem   int64  // the budget the process started with; 0: not asked for yet

	mu   sync.Mutex
	set  map[string]string
	idle map[string]bool // Flink keys that have no effect and were given to SET
	// loaded is the zone named loadedName: reading it from the machine's files takes longer than most else
	// of a small statement.
	loaded     *time.Location
	loadedName string
}

func newOptions(env *connector.Env) *options {
	return &options{table: Options(), env: env, zone: localZone(env.Clock()),
		set: map[string]string{}, idle: map[string]bool{}}
}

// lookup finds an option by its key or an alias.
func (o *options) lookup(key string) (Option, bool) {
	for _, opt := range o.table {
		if opt.Key == key || slices.Contains(opt.Aliases, key) {
			return opt, true
		}
	}
	return Option{}, false
}

// get returns an option's effective value.
func (o *options) get(key string) (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.value(key)
}

func (o *options) value(key string) (string, bool) {
	if v, ok := o.set[key]; ok {
		return v, true
	}
	switch key { // those that depend on the machine
	case keyParallelism:
		return strconv.Itoa(runtime.GOMAXPROCS(0)), true
	case keyZone:
		return o.zone, true
	case keyMemory:
		return formatSize(o.budget()), true
	case keyStorePath:
		return configFile("catalogs"), true
	}
	opt, ok := o.lookup(key)
	return opt.Default, ok
}

// budget returns the memory budget that the process started with. The caller holds the lock.
func (o *options) budget() int64 {
	if o.mem == 0 {
		o.mem = o.env.Memory.Limit()
	}
	return o.mem
}

// number returns the value of an Integer option.
func (o *options) number(key string) int {
	v, _ := o.get(key)
	n, err := strconv.Atoi(v)
	if err != nil {
		panic("session: option " + key + " holds a value that its check does not admit: " + v)
	}
	return n
}

// on returns the value of a Boolean option.
func (o *options) on(key string) bool { v, _ := o.get(key); return v == "true" }

// setOption sets an option; the warning, if any, is for the user.
func (s *Session) setOption(key, value string) (warning string, err error) {
	o := s.options
	opt, ok := o.lookup(key)
	if !ok {
		if !o.isIdle(key) {
			return "", o.unknown(key)
		}
		o.mu.Lock()
		o.idle[key] = true
		o.mu.Unlock()
		warning = fmt.Sprintf("'%s' has no effect here", key)
		if note := idleNotes()[key]; note != "" {
			warning += ": " + note
		}
		return warning, nil
	}
	key = opt.Key
	kept, err := opt.check(value)
	if err != nil {
		return "", fmt.Errorf("option '%s' = '%s': %w", key, connector.ScrubURL(value), err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.set[key] = kept
	if key == keyMemory {
		n, _ := parseSize(kept)
		o.budget() // is asked for before it is changed
		o.env.Memory.SetLimit(n)
	}
	return "", nil
}

// isIdle reports whether a key is one of Flink's that have no effect here. One that looks like an option of
// ours is a slip and no such key.
func (o *options) isIdle(key string) bool {
	return !hasPrefix(key, refusedPrefixes()) && hasPrefix(key, idlePrefixes()) && (o.nearest(key) == "" || idleNotes()[key] != "")
}

// nearest returns the option that a key was meant to be, or "": one spelt much like it, or one that differs
// in its first part only.
func (o *options) nearest(key string) string {
	keys := make([]string, len(o.table))
	tails := map[string]string{}
	for i, opt := range o.table {
		keys[i] = opt.Key
		if _, tail, _ := strings.Cut(opt.Key, "."); strings.Contains(tail, ".") {
			tails[tail] = opt.Key
		}
	}
	if c := connector.Closest(key, keys); c != "" && !hasPrefix(key, idlePrefixes()) {
		return c
	}
	_, tail, _ := strings.Cut(key, ".")
	return tails[connector.Closest(tail, sortedKeys(tails))]
}

func hasPrefix(key string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// unknown is the refusal of a key that nobody knows, with the nearest one that somebody does.
func (o *options) unknown(key string) *unknownOption {
	if hasPrefix(key, refusedPrefixes()) {
		return &unknownOption{msg: fmt.Sprintf("option '%s' is not supported yet", key), hint: "it would change results, so it is not ignored"}
	}
	e := &unknownOption{msg: fmt.Sprintf("unknown option '%s'", key), hint: "SET; lists the options"}
	if c := o.nearest(key); c != "" {
		e.hint = fmt.Sprintf("did you mean '%s'?", c)
	}
	return e
}

type unknownOption struct{ msg, hint string }

func (e *unknownOption) Error() string { return e.msg + " (" + e.hint + ")" }

// set runs SET 'key' = 'value', SET 'key' and SET.
func (s *Session) set(st *sqlparse.Set) (*Result, error) {
	switch {
	case st.Key == nil:
		return s.listOptions(), nil
	case st.Value == nil:
		return s.showOption(st.Key)
	}
	if err := s.options.atStartup(st.Key, st.Value.Text); err != nil {
		return nil, err
	}
	warning, err := s.setOption(st.Key.Text, st.Value.Text)
	if u, ok := err.(*unknownOption); ok {
		return nil, &sqlparse.Error{Span: st.Key.Span(), Msg: u.msg, Hint: u.hint}
	}
	if err != nil {
		return nil, refuse(st.Value.Span(), "%s", err)
	}
	if warning != "" {
		return &Result{Kind: Notice, Message: warning}, nil
	}
	return &Result{Kind: OK}, nil
}

// atStartup refuses to change an option that was read when the session began.
func (o *options) atStartup(key *sqlparse.Literal, value string) error {
	opt, ok := o.lookup(key.Text)
	if !ok || !opt.Startup {
		return nil
	}
	return &sqlparse.Error{Span: key.Span(), Msg: fmt.Sprintf("option '%s' is read when the shell starts", opt.Key),
		Hint: fmt.Sprintf("start it with sluice -D %s=%s", opt.Key, shellWord(value))}
}

// shellWord quotes a value for a command line.
func shellWord(v string) string {
	if v == "" {
		return "…"
	}
	if strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return v
	}
	return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
}

// reset runs RESET 'key' and RESET. RESET leaves the options alone that were read when the session began.
func (s *Session) reset(st *sqlparse.Reset) (*Result, error) {
	o := s.options
	o.mu.Lock()
	defer o.mu.Unlock()
	if st.Key == nil {
		maps.DeleteFunc(o.set, func(key, _ string) bool { opt, _ := o.lookup(key); return !opt.Startup })
		clear(o.idle)
		o.env.Memory.SetLimit(o.budget())
		return &Result{Kind: OK}, nil
	}
	key := st.Key.Text
	opt, ok := o.lookup(key)
	if !ok && !o.isIdle(key) {
		u := o.unknown(key)
		return nil, &sqlparse.Error{Span: st.Key.Span(), Msg: u.msg, Hint: u.hint}
	}
	if ok {
		if err := o.atStartup(st.Key, opt.Default); err != nil {
			return nil, err
		}
		key = opt.Key
	}
	delete(o.set, key)
	delete(o.idle, key)
	if key == keyMemory {
		o.env.Memory.SetLimit(o.budget())
	}
	return &Result{Kind: OK}, nil
}

// listOptions gives every option with its effective value, and the idle ones that were set.
func (s *Session) listOptions() *Result {
	o := s.options
	o.mu.Lock()
	defer o.mu.Unlock()
	m := newMetadata("key", "value", "note")
	keys := make([]string, 0, len(o.table)+len(o.idle))
	for _, opt := range o.table {
		keys = append(keys, opt.Key)
	}
	for k := range o.idle {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		m.add(o.row(k)...)
	}
	return m.result()
}

// row is an option's line in SET. The caller holds the lock.
func (o *options) row(key string) []any {
	if _, ok := o.idle[key]; ok {
		return []any{key, connector.Mask, "has no effect here"} // nobody knows what the value is
	}
	if o.isIdle(key) {
		return []any{key, "", "not set, has no effect here"}
	}
	v, _ := o.value(key)
	note := "default"
	if _, ok := o.set[key]; ok {
		note = ""
	}
	if opt, _ := o.lookup(key); opt.Fixed {
		note = "no choice yet"
	}
	return []any{key, v, note}
}

// showOption gives one option and what it is for.
func (s *Session) showOption(key *sqlparse.Literal) (*Result, error) {
	o := s.options
	o.mu.Lock()
	defer o.mu.Unlock()
	opt, known := o.lookup(key.Text)
	if !known && !o.isIdle(key.Text) {
		u := o.unknown(key.Text)
		return nil, &sqlparse.Error{Span: key.Span(), Msg: u.msg, Hint: u.hint}
	}
	values := ""
	if known {
		values = opt.Values()
	}
	m := newMetadata("key", "value", "note", "values", "description")
	name, doc := key.Text, idleNotes()[key.Text]
	if known {
		name, doc = opt.Key, opt.Doc
	}
	m.add(append(o.row(name), values, doc)...)
	return m.result(), nil
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
