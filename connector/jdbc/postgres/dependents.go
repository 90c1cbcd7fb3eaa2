package postgres

import (
	"context"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// dependents names what would be lost with a table, or would change, when another takes its place.
func (c *conn) dependents(ctx context.Context, oid string, def server.Definition) ([]string, error) {
	// Comments and conditions that the new table has as well are no loss. The comment on the table is that of "".
	var commented, checked, checks []string
	if def.Comment != "" {
		commented = append(commented, "")
	}
	for _, col := range def.Schema.Columns {
		if col.Comment != "" || def.Comments[col.Name] != "" {
			commented = append(commented, col.Name)
		}
		if _, check, _ := declared(col.Type); check != "" {
			checked, checks = append(checked, col.Name), append(checks, "CHECK ("+strings.ReplaceAll(storedCheck(col.Type), "$", "%1$I")+")")
		}
	}
	return c.texts(ctx, `WITH t AS (SELECT c.oid, c.reltype, c.relowner, c.relacl, c.relpersistence, c.reltablespace, c.reloptions, c.relreplident, c.relrowsecurity OR c.relforcerowsecurity AS secured, c.reloftype, c.relam, c.reltoastrelid FROM pg_catalog.pg_class c WHERE c.oid = $1::pg_catalog.oid),
own AS (
  SELECT d.classid, d.objid FROM t JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND d.refobjid = t.oid
  UNION
  SELECT d.classid, d.objid FROM t JOIN pg_catalog.pg_type y ON y.oid = t.reltype OR y.typelem = t.reltype AND y.typlen = -1 JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid AND d.refobjid = y.oid),
named AS (
  SELECT CASE WHEN w.ev_class IS NOT NULL AND w.rulename = '_RETURN' THEN pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, w.ev_class, 0)
    ELSE pg_catalog.pg_describe_object(own.classid, own.objid, 0) END AS what
  FROM t CROSS JOIN own
  LEFT JOIN pg_catalog.pg_rewrite w ON own.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass::pg_catalog.oid AND w.oid = own.objid
  LEFT JOIN pg_catalog.pg_constraint k ON own.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid AND k.oid = own.objid
  LEFT JOIN pg_catalog.pg_class r ON own.classid = 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND r.oid = own.objid
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
  WHERE NOT (own.classid = 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid AND EXISTS (SELECT 1 FROM pg_catalog.pg_type y WHERE y.oid = own.objid AND (y.oid = t.reltype OR y.typelem = t.reltype)))
    AND own.objid <> t.oid
    AND coalesce(r.relkind, '') <> 't'
    AND NOT (coalesce(k.contype, '') IN ('p', 'n') AND k.conrelid = t.oid)
    AND NOT EXISTS (SELECT 1 FROM (SELECT pg_catalog.pg_get_constraintdef(k.oid) AS def) f WHERE k.contype = 'c' AND k.conrelid = t.oid AND pg_catalog.cardinality(k.conkey) = 1
      AND (a.atttypid = 'pg_catalog.int2'::pg_catalog.regtype::pg_catalog.oid AND f.def = pg_catalog.format('CHECK (((%1$I >= ''-128''::integer) AND (%1$I <= 127)))', a.attname)
        OR a.atttypid = 'pg_catalog.bytea'::pg_catalog.regtype::pg_catalog.oid AND pg_catalog.regexp_replace(f.def, ' <?= [0-9]+\)\)$', '') = pg_catalog.format('CHECK ((octet_length(%I)', a.attname))
      AND (k.conname = a.attname::pg_catalog.text OPERATOR(pg_catalog.||) '_check'
        OR EXISTS (SELECT 1 FROM ROWS FROM (pg_catalog.unnest($3::pg_catalog.text[]), pg_catalog.unnest($4::pg_catalog.text[])) AS d(col, form) WHERE d.col = a.attname AND f.def = pg_catalog.format(d.form, a.attname))))
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indexrelid = own.objid AND i.indisprimary AND i.indrelid = t.oid)
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_trigger g WHERE own.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass::pg_catalog.oid AND g.oid = own.objid AND g.tgisinternal)
  UNION ALL
  SELECT 'rights granted to ' OPERATOR(pg_catalog.||) pg_catalog.string_agg(DISTINCT CASE x.grantee WHEN '0' THEN 'everybody' ELSE pg_catalog.pg_get_userbyid(x.grantee) END, ', ')
  FROM t, LATERAL (SELECT e.grantee FROM pg_catalog.aclexplode(t.relacl) e WHERE e.grantee <> t.relowner
    UNION SELECT e.grantee FROM pg_catalog.pg_attribute a, LATERAL pg_catalog.aclexplode(a.attacl) e WHERE a.attrelid = t.oid AND NOT a.attisdropped) x HAVING count(*) > 0
  UNION ALL
  SELECT 'the rights of its owner, which were changed' FROM t WHERE t.relacl IS NOT NULL AND NOT t.relacl OPERATOR(pg_catalog.@>) (SELECT pg_catalog.array_agg(d) FROM pg_catalog.unnest(pg_catalog.acldefault('r', t.relowner)) d)
  UNION ALL
  SELECT 'its owner ' OPERATOR(pg_catalog.||) pg_catalog.pg_get_userbyid(t.relowner) FROM t WHERE pg_catalog.pg_get_userbyid(t.relowner) <> current_user
  UNION ALL
  SELECT 'row-level security' FROM t WHERE t.secured
  UNION ALL
  SELECT 'its being a part of ' OPERATOR(pg_catalog.||) pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, i.inhparent, 0) FROM t JOIN pg_catalog.pg_inherits i ON i.inhrelid = t.oid
  UNION ALL
  SELECT CASE o.objsubid WHEN 0 THEN 'the comment on the table' ELSE 'the comment on the column ' OPERATOR(pg_catalog.||) a.attname END FROM t JOIN pg_catalog.pg_description o ON o.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND o.objoid = t.oid
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = o.objsubid AND o.objsubid > 0 WHERE NOT coalesce(a.attname, '') = ANY ($2::pg_catalog.text[])
  UNION ALL
  SELECT 'the security label of ' OPERATOR(pg_catalog.||) l.provider FROM t JOIN pg_catalog.pg_seclabel l ON l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND l.objoid = t.oid
  UNION ALL
  SELECT 'its being unlogged' FROM t WHERE t.relpersistence = 'u'
  UNION ALL
  SELECT 'its tablespace ' OPERATOR(pg_catalog.||) s.spcname FROM t JOIN pg_catalog.pg_tablespace s ON s.oid = t.reltablespace
  UNION ALL
  SELECT 'its storage options ' OPERATOR(pg_catalog.||) pg_catalog.array_to_string(t.reloptions, ', ') FROM t WHERE t.reloptions IS NOT NULL
  UNION ALL
  SELECT 'the storage options of its long values ' OPERATOR(pg_catalog.||) pg_catalog.array_to_string(o.reloptions, ', ') FROM t JOIN pg_catalog.pg_class o ON o.oid = t.reltoastrelid WHERE o.reloptions IS NOT NULL
  UNION ALL
  SELECT 'its access method ' OPERATOR(pg_catalog.||) m.amname::pg_catalog.text FROM t JOIN pg_catalog.pg_am m ON m.oid = t.relam WHERE m.amname <> pg_catalog.current_setting('default_table_access_method')
  UNION ALL
  SELECT 'its being of type ' OPERATOR(pg_catalog.||) pg_catalog.format_type(t.reloftype, NULL) FROM t WHERE t.reloftype <> '0'
  UNION ALL
  SELECT 'its being filled by a subscription' FROM t JOIN pg_catalog.pg_subscription_rel u ON u.srrelid = t.oid
  UNION ALL
  SELECT 'the settings of its primary key' FROM t JOIN pg_catalog.pg_constraint k ON k.conrelid = t.oid AND k.contype = 'p' JOIN pg_catalog.pg_index i ON i.indexrelid = k.conindid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
  WHERE k.condeferrable OR i.indnatts > i.indnkeyatts OR x.reloptions IS NOT NULL OR x.reltablespace <> '0'
  UNION ALL
  SELECT 'the comment on ' OPERATOR(pg_catalog.||) pg_catalog.pg_describe_object(o.classoid, o.objoid, 0) FROM t JOIN pg_catalog.pg_constraint k ON k.conrelid = t.oid JOIN pg_catalog.pg_description o
    ON o.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid AND o.objoid = k.oid OR o.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND o.objoid = k.conindid AND k.contype = 'p'
  UNION ALL
  SELECT 'its replica identity' FROM t WHERE t.relreplident <> 'd'
  UNION ALL
  SELECT 'its being clustered on ' OPERATOR(pg_catalog.||) i.indexrelid::pg_catalog.regclass FROM t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid AND i.indisclustered
  UNION ALL
  SELECT 'its being a part of ' OPERATOR(pg_catalog.||) pg_catalog.pg_describe_object(d.refclassid, d.refobjid, 0) FROM t JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND d.objid = t.oid AND d.deptype = 'e'
  UNION ALL
  SELECT CASE WHEN a.attcollation <> y.typcollation THEN 'the collation of column ' ELSE 'the settings of column ' END OPERATOR(pg_catalog.||) a.attname
  FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
  WHERE a.attcollation <> y.typcollation OR coalesce(a.attstattarget, -1) <> -1 OR a.attoptions IS NOT NULL OR a.attstorage <> y.typstorage OR coalesce(pg_catalog.to_jsonb(a) OPERATOR(pg_catalog.->>) 'attcompression', '') <> '')
SELECT DISTINCT what FROM named ORDER BY what`, oid, array(commented), array(checked), array(checks))
}

// array is a list of texts in the server's form.
func array(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}
