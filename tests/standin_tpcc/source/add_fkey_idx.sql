CREATE INDEX idx_orders ON orders (o_w_id, o_c_id);
ALTER TABLE stock ADD CONSTRAINT fkey_stock FOREIGN KEY (s_w_id) REFERENCES warehouse (w_id);
ALTER TABLE customer ADD CONSTRAINT fkey_customer FOREIGN KEY (c_w_id) REFERENCES warehouse (w_id);
ALTER TABLE orders ADD CONSTRAINT fkey_orders FOREIGN KEY (o_w_id) REFERENCES warehouse (w_id);
