-- Tables of the stand-in: the names and keys that tpcc-mysql has, a few columns of each.
CREATE TABLE warehouse (w_id INT PRIMARY KEY, w_ytd DECIMAL(12,2) NOT NULL) ENGINE=InnoDB;
CREATE TABLE item (i_id INT PRIMARY KEY, i_price DECIMAL(5,2) NOT NULL) ENGINE=InnoDB;
CREATE TABLE stock (
  s_i_id INT, s_w_id INT, s_quantity INT NOT NULL, PRIMARY KEY (s_w_id, s_i_id)
) ENGINE=InnoDB;
CREATE TABLE customer (
  c_id INT, c_w_id INT, c_balance DECIMAL(12,2) NOT NULL, PRIMARY KEY (c_w_id, c_id)
) ENGINE=InnoDB;
CREATE TABLE orders (
  o_id INT AUTO_INCREMENT PRIMARY KEY, o_w_id INT NOT NULL, o_c_id INT NOT NULL, o_i_id INT NOT NULL,
  o_delivered INT NOT NULL
) ENGINE=InnoDB;
