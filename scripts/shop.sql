-- A small shop in a SQLite file. The file is made by the first CREATE TABLE.
CREATE CATALOG shop WITH (
  'type'     = 'jdbc',
  'base-url' = 'jdbc:sqlite:shop.db'
);
USE CATALOG shop;

CREATE TABLE customers (
  id   BIGINT,
  name STRING NOT NULL,
  city STRING,
  PRIMARY KEY (id) NOT ENFORCED
);

CREATE TABLE products (
  id    BIGINT,
  name  STRING NOT NULL,
  price DECIMAL(10, 2) NOT NULL,
  PRIMARY KEY (id) NOT ENFORCED
);

CREATE TABLE orders (
  id          BIGINT,
  customer_id BIGINT NOT NULL,
  product_id  BIGINT NOT NULL,
  quantity    INT NOT NULL,
  ordered_on  DATE,
  PRIMARY KEY (id) NOT ENFORCED
);

INSERT INTO customers VALUES
  (1, 'Ada',    'London'),
  (2, 'Grace',  'New York'),
  (3, 'Edsger', 'Rotterdam'),
  (4, 'Barbara','New York');

INSERT INTO products VALUES
  (1, 'Lock gate', 1250.00),
  (2, 'Paddle',      89.90),
  (3, 'Rope, 10 m',  12.35);

INSERT INTO orders VALUES
  (1, 1, 3, 10, DATE '2026-01-14'),
  (2, 2, 1,  2, DATE '2026-02-02'),
  (3, 2, 2,  4, DATE '2026-02-02'),
  (4, 3, 3,  1, DATE '2026-03-21'),
  (5, 4, 2,  1, DATE '2026-04-05'),
  (6, 1, 1,  1, DATE '2026-05-30');

-- The till writes its amounts as text: 100,000 good lines, and a last one that is not a number.
CREATE TABLE till_export (line BIGINT, amount STRING);

INSERT INTO till_export
WITH digits (d) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))
SELECT
  a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d + 1,
  CAST(a.d AS STRING) || '.' || CAST(b.d AS STRING) || '0'
FROM digits AS a CROSS JOIN digits AS b CROSS JOIN digits AS c CROSS JOIN digits AS d CROSS JOIN digits AS e;

INSERT INTO till_export VALUES (100001, 'n/a');

SELECT COUNT(*) AS till_lines FROM till_export;
