-- Four cash desks that never close: the table is filled until somebody stops the job.
CREATE CATALOG live WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:live.db');
CREATE TABLE desks (desk INT, amount DECIMAL(5, 2)) WITH (
  'connector'         = 'datagen',
  'rows-per-second'   = '500',
  'fields.desk.min'   = '1',
  'fields.desk.max'   = '4',
  'fields.amount.min' = '1',
  'fields.amount.max' = '100'
);

CREATE TABLE live.live.sales AS
SELECT desk, amount FROM desks;
