-- One statement makes the table, fills it and commits it. Nobody sees it before it is whole.
CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:shop.db');
USE CATALOG shop;

CREATE TABLE city_revenue AS
SELECT
  c.city,
  COUNT(*) AS orders,
  SUM(o.quantity * p.price) AS revenue
FROM orders AS o
JOIN customers AS c ON c.id = o.customer_id
JOIN products  AS p ON p.id = o.product_id
GROUP BY c.city;

SELECT * FROM city_revenue ORDER BY revenue DESC;
