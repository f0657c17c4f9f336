/* Fills the tables as tpcc_load does: everything, or one part of the warehouses from -m to -n. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

static void must(int error)
{
    if (error)
        exit(255);
}

static void load_items(MYSQL *connection)
{
    printf("Loading Item \n");
    for (int item = 1; item <= ITEMS; item++)
        must(run(connection, "INSERT INTO item VALUES (%d, %d)", item, 1 + item % 100));
}

static void load_warehouse(MYSQL *connection, int warehouse)
{
    printf("Loading Warehouse \n");
    must(run(connection, "INSERT INTO warehouse VALUES (%d, 300000)", warehouse));
    for (int item = 1; item <= ITEMS; item++)
        must(run(connection, "INSERT INTO stock VALUES (%d, %d, %d)", item, warehouse, 10 + item % 90));
}

static void load_customers(MYSQL *connection, int warehouse)
{
    printf("Loading Customer for WID=%d\n", warehouse);
    for (int customer = 1; customer <= CUSTOMERS; customer++)
        must(run(connection, "INSERT INTO customer VALUES (%d, %d, -10)", customer, warehouse));
}

static void load_orders(MYSQL *connection, int warehouse)
{
    printf("Loading Orders for W= %d\n", warehouse);
    for (int customer = 1; customer <= CUSTOMERS; customer++)
        must(run(connection, "INSERT INTO orders (o_w_id, o_c_id, o_i_id, o_delivered) VALUES (%d, %d, %d, 0)",
                 warehouse, customer, customer));
}

int main(int argc, char **argv)
{
    struct options options = {.port = 3306, .first = 1};
    read_options(argc, argv, "h:P:d:u:p:w:l:m:n:", &options);
    if (options.part == 0)
        options.last = options.warehouses;
    MYSQL *connection = connect_to(&options);
    if (!connection)
        return 255;
    must(run(connection, "SET FOREIGN_KEY_CHECKS=0"));
    printf("TPCC Data Load Started...\n");
    if (options.part <= 1)
        load_items(connection);
    for (int warehouse = options.first; warehouse <= options.last; warehouse++) {
        if (options.part == 0 || options.part == 2)
            load_warehouse(connection, warehouse);
        if (options.part == 0 || options.part == 3)
            load_customers(connection, warehouse);
        if (options.part == 0 || options.part == 4)
            load_orders(connection, warehouse);
    }
    must(mysql_commit(connection));
    mysql_close(connection);
    printf("\n...DATA LOADING COMPLETED SUCCESSFULLY.\n");
    return 0;
}
