-- What the desks have sold so far. It is a query of another program, and ends.
CREATE CATALOG live WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:live.db');
USE CATALOG live;

SELECT desk, COUNT(*) AS sales, SUM(amount) AS revenue FROM sales GROUP BY desk ORDER BY desk;
