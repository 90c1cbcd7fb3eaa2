-- Is there anything of the failed table?
CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:shop.db');
USE CATALOG shop;

SHOW TABLES;

SELECT * FROM till;
