package connector

import (
	"context"
	"sync"
	"time"
)

// Scope is what connectors keep for the time of one job, such as the snapshot that its sources share. It
// travels in the context that the job's sources are made with.
type Scope struct {
	// Job is what the scope's job has settled for all that take part in it.
	Job JobSettings

	mu     sync.Mutex
	values map[any]any
}

// JobSettings are the inputs of a job that are not in its tables' definitions.
type JobSettings struct {
	ID   JobID
	Seed uint64         // of everything random
	Zone *time.Location // of dates and times without one; nil: UTC
}

type scopeKey struct{}

// WithScope returns a context with a new scope.
func WithScope(ctx context.Context) context.Context { return WithJob(ctx, JobSettings{}) }

// WithJob returns a context with the new scope of a job of these settings.
func WithJob(ctx context.Context, job JobSettings) context.Context {
	return context.WithValue(ctx, scopeKey{}, &Scope{Job: job, values: map[any]any{}})
}

// ScopeOf returns the scope of a context, a new one when it has none.
func ScopeOf(ctx context.Context) *Scope {
	if s, ok := ctx.Value(scopeKey{}).(*Scope); ok {
		return s
	}
	return &Scope{values: map[any]any{}}
}

// Value returns what the scope keeps under a key, which is of a type of the caller's own; fresh makes it
// when there is nothing yet.
func (s *Scope) Value(key any, fresh func() any) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[key]
	if !ok {
		v = fresh()
		s.values[key] = v
	}
	return v
}
