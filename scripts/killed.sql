-- Ten thousand million rows: long enough to be killed in the middle.
CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:shop.db');
USE CATALOG shop;

CREATE TABLE every_pair AS
SELECT a.line AS line_a, b.line AS line_b
FROM till_export AS a CROSS JOIN till_export AS b;
