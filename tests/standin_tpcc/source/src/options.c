#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void read_options(int argc, char **argv, const char *known, struct options *options)
{
    int letter;
    while ((letter = getopt(argc, argv, known)) != -1) {
        if (letter == '?')
            exit(1);
        printf("option %c with value '%s'\n", letter, optarg);
        switch (letter) {
        case 'h': options->host = optarg; break;
        case 'P': options->port = atoi(optarg); break;
        case 'd': options->database = optarg; break;
        case 'u': options->user = optarg; break;
        case 'p': options->password = optarg; break;
        case 'w': options->warehouses = atoi(optarg); break;
        case 'm': options->first = atoi(optarg); break;
        case 'n': options->last = atoi(optarg); break;
        case 'c': options->connections = atoi(optarg); break;
        case 'r': options->warmup_s = atoi(optarg); break;
        case 'i': options->interval_s = atoi(optarg); break;
        case 'l': options->part = options->time_s = atoi(optarg); break;
        }
    }
    printf("<Parameters>\n     [server]: %s\n     [port]: %d\n     [DBname]: %s\n       [user]: %s\n"
           "       [pass]: %s\n  [warehouse]: %d\n",
           options->host, options->port, options->database, options->user, options->password,
           options->warehouses);
}

MYSQL *connect_to(const struct options *options)
{
    MYSQL *connection = mysql_init(NULL);
    if (!mysql_real_connect(connection, options->host, options->user, options->password, options->database,
                            options->port, NULL, 0)) {
        fprintf(stderr, "%d, %s, %s\n", mysql_errno(connection), mysql_sqlstate(connection),
                mysql_error(connection));
        mysql_close(connection);
        return NULL;
    }
    mysql_autocommit(connection, 0);
    return connection;
}

int run(MYSQL *connection, const char *form, ...)
{
    char statement[256];
    va_list values;
    va_start(values, form);
    vsnprintf(statement, sizeof statement, form, values);
    va_end(values);
    if (mysql_query(connection, statement) == 0) {
        MYSQL_RES *result = mysql_store_result(connection);
        if (result)
            mysql_free_result(result);
    }
    int error = mysql_errno(connection);
    if (error)
        fprintf(stderr, "%d, %s, %s\n", error, mysql_sqlstate(connection), mysql_error(connection));
    return error;
}
