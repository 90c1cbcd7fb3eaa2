-- The table of the job that failed, and the rows that had been committed by then.
CREATE CATALOG live WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:live.db');
USE CATALOG live;

SHOW TABLES;

SELECT COUNT(*) AS lines, SUM(amount) AS total FROM till;
