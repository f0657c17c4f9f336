/* What both programs are told on their command line, and how they connect. */
#include <mysql.h>

enum { ITEMS = 200, CUSTOMERS = 30 };

struct options {
    const char *host, *database, *user, *password;
    int port, warehouses;
    int part, first, last;                         /* tpcc_load */
    int connections, warmup_s, time_s, interval_s; /* tpcc_start */
};

/* Read the options of getopt form *known*, and print them, the password too. */
void read_options(int argc, char **argv, const char *known, struct options *options);

/* Return a connection without autocommit, or print why there is none and return NULL. */
MYSQL *connect_to(const struct options *options);

/* Run one statement; return 0, or print the error and return its number. */
int run(MYSQL *connection, const char *form, ...);
