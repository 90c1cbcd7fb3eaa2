-- Is there anything of the killed table, and is the rest untouched?
CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:shop.db');
USE CATALOG shop;

SHOW TABLES;

SELECT COUNT(*) AS orders, SUM(quantity) AS pieces FROM orders;

SELECT * FROM every_pair;
