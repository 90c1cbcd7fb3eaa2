-- The last of 100,001 rows cannot be cast. The statement fails, and leaves nothing.
CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:shop.db');
USE CATALOG shop;

CREATE TABLE till AS
SELECT line, CAST(amount AS DECIMAL(10, 2)) AS amount
FROM till_export;
