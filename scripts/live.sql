-- The statement of fails.sql once more, in streaming mode and into another file: the table is there at once,
-- and what is read is committed at every checkpoint. The last line fails, and takes back no checkpoint.
CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:shop.db');
CREATE CATALOG live WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:live.db');
USE CATALOG shop;

SET 'execution.runtime-mode' = 'streaming';
SET 'execution.checkpointing.interval' = '10 ms';

CREATE TABLE live.live.till AS
SELECT line, CAST(amount AS DECIMAL(10, 2)) AS amount
FROM till_export;
