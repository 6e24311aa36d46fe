/* room.h - a program of tests: the groups of a room, a file each, and their
 * cases.  tests/ROOM/FILE.c ends in
 *
 *   int test_FILE(void)
 *   {
 *     const struct CMUnitTest tests[] = {cmocka_unit_test(case), ...};
 *     return run_cases(tests, NULL, NULL);
 *   }
 *
 * and CMakeLists.txt lists it in room_groups. */
#ifndef LAPIS_ROOM_H
#define LAPIS_ROOM_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* after those above, as cmocka asks */
#include <cmocka.h>

typedef struct room_group {
  const char *name;
  int (*run)(void); /* how many cases failed */
} room_group;
extern const room_group room_groups[]; /* the last one has no name */

/* A case that only `tools/run-tests --all` runs: LONG(cmocka_unit_test(f)). */
#define LONG(...) room_long((struct CMUnitTest)__VA_ARGS__)
struct CMUnitTest room_long(struct CMUnitTest one);
/* Whether LAPIS_TEST_ALL asks for everything; and how far a sweep goes on from
 * its k-th try: by one, else the farther the later. */
bool room_all(void);
long room_step(long k);

#define run_cases(tests, setup, teardown) \
  room_run((tests), sizeof(tests) / sizeof *(tests), (setup), (teardown))
int room_run(const struct CMUnitTest *all, size_t count,
             CMFixtureFunction setup, CMFixtureFunction teardown);
#endif
