package session

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
)

// askedStore is a catalog store that counts how often it is asked.
type askedStore struct {
	catalog.CatalogStore
	times int
}

func (s *askedStore) Get(context.Context, string) (catalog.Descriptor, bool, error) {
	s.times++
	return catalog.Descriptor{}, false, nil
}

func (s *askedStore) List(context.Context) ([]string, error) {
	s.times++
	return []string{"kept"}, nil
}

// What is shown and what is remembered is cleared of secrets without a look at the store, which may be large
// and far away.
func TestMessagesDoNotAskTheStore(t *testing.T) {
	s, err := New(Config{Env: &connector.Env{Clock: time.Now}, Catalogs: []catalog.Factory{memorycatalog.Factory{}}})
	require.NoError(t, err)
	defer s.Close()
	store := &askedStore{}
	s.catalogs.Store = store
	_, err = s.Execute(context.Background(), Text{SQL: "SELECT nope FROM (VALUES 1) AS t (x)"})
	require.Error(t, err)
	require.Equal(t, "ALTER CATALOG kept SET ('k' = '*')", s.Masked("ALTER CATALOG kept SET ('k' = 'v')"))
	_, err = s.Execute(context.Background(), Text{SQL: "SHOW TABLES LIKE"})
	require.Error(t, err)
	require.Zero(t, store.times)
}
