package mysql

import (
	"context"
	"fmt"
)

// cluster names the kind of cluster whose nodes all take writes, "" for any other server. GET_LOCK is local to a node
// there: that a job's lock can be had does not tell that the job is dead, when its session is on another node.
func (c *conn) cluster(ctx context.Context) (string, error) {
	rows, err := c.query(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'wsrep_provider', 'group_replication_group_name', 'group_replication_single_primary_mode')")
	if err != nil {
		return "", err
	}
	is := map[string]string{}
	for _, r := range rows {
		is[r[0].text] = r[1].text
	}
	return clusterOf(is), nil
}

func clusterOf(variables map[string]string) string {
	provider := variables["wsrep_provider"]
	switch {
	case variables["wsrep_on"] == "ON" && provider != "" && provider != "none":
		return "Galera"
	case variables["group_replication_group_name"] != "" && variables["group_replication_single_primary_mode"] == "OFF":
		return "a group with several primaries"
	}
	return ""
}

// oneNode refuses a cluster for what leaves tables behind when a job dies.
func (c *conn) oneNode(ctx context.Context) error {
	kind, err := c.cluster(ctx)
	if err == nil && kind != "" {
		err = fmt.Errorf("the server is a node of %s, where a lock is known to one node only, so that nobody could tell a dead job's tables from a live one's: a table cannot be made all or nothing; CREATE TABLE it, then INSERT", kind)
	}
	return err
}
