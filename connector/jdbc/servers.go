package jdbc

import (
	"github.com/sluice-sql/sluice/connector/jdbc/mysql"
	"github.com/sluice-sql/sluice/connector/jdbc/postgres"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// servers are the dialects of database servers that there are.
func servers() []server.Dialect {
	return []server.Dialect{postgres.Dialect{}, mysql.Dialect{}}
}
