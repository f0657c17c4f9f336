/* Runs five kinds of transactions in one thread a connection, and reports in the forms of tpcc_start.
 * Like it, it ends with status 0 also if connections were refused. */
#include "options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 5, LONGEST_MS = 60000 };
static const char *const NAMES[KINDS] = {"New-Order", "Payment", "Order-Status", "Delivery", "Stock-Level"};
static const int LIMITS_MS[KINDS] = {5, 5, 5, 80, 20};
static const double LEAST_PCT[KINDS] = {0, 43, 4, 4, 4};
/* Each connection goes through it again and again: of 23 transactions 10, 10, 1, 1 and 1. */
static const char DECK[] = "01010101010101010101234";

struct tally {
    long in_time, late, retried;
    double total_ms, longest_ms;
};

static struct options options = {.port = 3306, .connections = 10, .warmup_s = 10, .time_s = 20, .interval_s = 10};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tally whole[KINDS], interval[KINDS];
static long new_orders_by_ms[LONGEST_MS]; /* of the interval */
static volatile int measuring, ended;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000.0 + now.tv_nsec / 1e6;
}

static int transact(MYSQL *connection, int kind, unsigned *seed)
{
    int warehouse = 1 + rand_r(seed) % options.warehouses;
    int customer = 1 + rand_r(seed) % CUSTOMERS;
    int item = 1 + rand_r(seed) % ITEMS;
    switch (kind) {
    case 0:
        return run(connection, "UPDATE stock SET s_quantity = IF(s_quantity > 10, s_quantity - 1, 91) "
                               "WHERE s_w_id = %d AND s_i_id = %d", warehouse, item)
            || run(connection, "INSERT INTO orders (o_w_id, o_c_id, o_i_id, o_delivered) VALUES (%d, %d, %d, 0)",
                   warehouse, customer, item);
    case 1:
        return run(connection, "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = %d", warehouse)
            || run(connection, "UPDATE customer SET c_balance = c_balance - 1 WHERE c_w_id = %d AND c_id = %d",
                   warehouse, customer);
    case 2:
        return run(connection, "SELECT MAX(o_id) FROM orders WHERE o_w_id = %d AND o_c_id = %d", warehouse,
                   customer);
    case 3:
        return run(connection, "UPDATE orders SET o_delivered = 1 WHERE o_w_id = %d AND o_c_id = %d LIMIT 1",
                   warehouse, customer);
    default:
        return run(connection, "SELECT COUNT(*) FROM stock WHERE s_w_id = %d AND s_quantity < 15", warehouse);
    }
}

static void count(int kind, double took_ms)
{
    struct tally *tallies[] = {&whole[kind], &interval[kind]};
    pthread_mutex_lock(&lock);
    for (int i = 0; measuring && i < 2; i++) {
        *(took_ms < LIMITS_MS[kind] ? &tallies[i]->in_time : &tallies[i]->late) += 1;
        tallies[i]->total_ms += took_ms;
        if (took_ms > tallies[i]->longest_ms)
            tallies[i]->longest_ms = took_ms;
    }
    if (measuring && kind == 0)
        new_orders_by_ms[took_ms < LONGEST_MS ? (int)took_ms : LONGEST_MS - 1]++;
    pthread_mutex_unlock(&lock);
}

static void *connection_main(void *number)
{
    unsigned seed = (unsigned)(size_t)number * 2654435761u + (unsigned)time(NULL);
    MYSQL *connection = connect_to(&options);
    if (!connection) {
        printf("error at thread_main\n");
        return NULL;
    }
    for (unsigned turn = rand_r(&seed) % 23; !ended; turn++) {
        int kind = DECK[turn % (sizeof DECK - 1)] - '0';
        double began = now_ms();
        if (transact(connection, kind, &seed) == 0 && mysql_commit(connection) == 0) {
            count(kind, now_ms() - began);
        } else {
            mysql_rollback(connection);
            whole[kind].retried++;
        }
    }
    mysql_close(connection);
    printf(".");
    return NULL;
}

static double percentile_ms(double share)
{
    long all = interval[0].in_time + interval[0].late, seen = 0;
    for (int ms = 0; ms < LONGEST_MS; ms++)
        if ((seen += new_orders_by_ms[ms]) >= share * all)
            return ms + 1;
    return LONGEST_MS;
}

static void report_interval(int seconds)
{
    pthread_mutex_lock(&lock);
    printf("%4d, trx: %ld, 95%%: %.3f, 99%%: %.3f, max_rt: %.3f", seconds, interval[0].in_time + interval[0].late,
           percentile_ms(0.95), percentile_ms(0.99), interval[0].longest_ms);
    for (int kind = 1; kind < KINDS; kind++)
        printf(", %ld|%.3f", interval[kind].in_time + interval[kind].late, interval[kind].longest_ms);
    printf("\n");
    fflush(stdout);
    memset(interval, 0, sizeof interval);
    memset(new_orders_by_ms, 0, sizeof new_orders_by_ms);
    pthread_mutex_unlock(&lock);
}

static const char *verdict(int passed)
{
    return passed ? " [OK]" : " [NG] *";
}

static void report(int measured_s)
{
    long all = 0;
    printf("\n<Raw Results>\n");
    for (int kind = 0; kind < KINDS; kind++) {
        long done = whole[kind].in_time + whole[kind].late;
        all += done;
        printf("  [%d] sc:%ld lt:%ld  rt:%ld  fl:0 avg_rt: %.1f (%d)\n", kind, whole[kind].in_time,
               whole[kind].late, whole[kind].retried, whole[kind].total_ms / done, LIMITS_MS[kind]);
    }
    printf(" in %d sec.\n\n<Constraint Check> (all must be [OK])\n [transaction percentage]\n", measured_s);
    for (int kind = 1; kind < KINDS; kind++) {
        double share = 100.0 * (whole[kind].in_time + whole[kind].late) / all;
        printf("%15s: %3.2f%% (>=%4.1f%%)%s\n", NAMES[kind], share, LEAST_PCT[kind],
               verdict(share >= LEAST_PCT[kind]));
    }
    printf(" [response time (at least 90%% passed)]\n");
    for (int kind = 0; kind < KINDS; kind++) {
        double share = 100.0 * whole[kind].in_time / (whole[kind].in_time + whole[kind].late);
        printf("%15s: %3.2f%% %s\n", NAMES[kind], share, verdict(share >= 90));
    }
    printf("\n<TpmC>\n                 %.3f TpmC\n", (whole[0].in_time + whole[0].late) * 60.0 / measured_s);
}

int main(int argc, char **argv)
{
    printf("***************************************\n*** stand-in for tpcc_start         ***\n"
           "***************************************\n");
    read_options(argc, argv, "h:P:d:u:p:w:c:r:l:i:", &options);
    printf(" [connection]: %d\n     [rampup]: %d (sec.)\n    [measure]: %d (sec.)\n", options.connections,
           options.warmup_s, options.time_s);
    mysql_library_init(0, NULL, NULL);
    pthread_t *threads = calloc(options.connections, sizeof *threads);
    for (long number = 0; number < options.connections; number++)
        pthread_create(&threads[number], NULL, connection_main, (void *)number);

    printf("\nRAMP-UP TIME.(%d sec.)\n", options.warmup_s);
    fflush(stdout);
    sleep(options.warmup_s);
    printf("\nMEASURING START.\n\n");
    fflush(stdout);
    measuring = 1;
    int intervals = options.time_s / options.interval_s;
    for (int i = 1; i <= intervals; i++) {
        sleep(options.interval_s);
        report_interval(i * options.interval_s);
    }
    measuring = 0;
    printf("\nSTOPPING THREADS");
    ended = 1;
    for (int number = 0; number < options.connections; number++)
        pthread_join(threads[number], NULL);
    printf("\n");
    report(intervals * options.interval_s);
    return 0;
}
