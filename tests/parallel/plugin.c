/* Which plug-in is opened: code of the user's or root's alone, and never what
 * lies in the current folder. */
#include "command.h"

/* Where the command was built, which has lapis-opencl.so beside it. */
static bool beside(char *path, size_t size)
{
  char *real = realpath(getenv("LAPIS_COMMAND"), NULL);
  assert_non_null(real);
  *strrchr(real, '/') = '\0';
  (void)snprintf(path, size, "%s/lapis-opencl.so", real);
  free(real);
  return access(path, F_OK) == 0;
}

static void shell(const command *c, const char *line)
{
  char all[10000];
  (void)snprintf(all, sizeof all, "cd %s && { %s; }", c->folder, line);
  if (system(all) != 0) fail_msg("failed: %s", line);
}

/* Of a copy of the command, alone in a folder, run in another one. */
static bool has_opencl(command *c, const char *plugins)
{
  char line[5000];
  (void)snprintf(
      line, sizeof line,
      "cd here && env %s%s ../bin/lapis info --json > ../out",
      plugins[0] == '\0' ? "-u LAPIS_PLUGINS" : "LAPIS_PLUGINS=", plugins);
  shell(c, line);
  command_slurp(c, "out", c->out, sizeof c->out);
  assert_non_null(strstr(c->out, "\"opencl\": "));
  return strstr(c->out, "\"opencl\": true") != NULL;
}

static void begin(command *c)
{
  char path[4096], line[9000];
  if (!beside(path, sizeof path)) {
    print_message("skipped: the plug-in is not built\n");
    skip();
  }
  command_begin(c);
  (void)snprintf(line, sizeof line,
                 "mkdir -m 755 bin lib lib/lapis here other && cp %s bin && "
                 "cp %s other && chmod 755 other/*",
                 getenv("LAPIS_COMMAND"), path);
  shell(c, line);
}

static void it_is_found_beside_the_command(void **state)
{
  command c;
  begin(&c);
  bool installed = has_opencl(&c, "");
  shell(&c, "cp other/lapis-opencl.so lib/lapis");
  assert_true(has_opencl(&c, ""));
  shell(&c, "mv lib/lapis/lapis-opencl.so bin");
  assert_true(has_opencl(&c, ""));
  shell(&c, "mv bin/lapis-opencl.so here");
  assert_int_equal(has_opencl(&c, ""), installed); /* not the current folder */
  command_end(&c);
}

static void what_others_can_write_is_not_opened(void **state)
{
  command c;
  char other[200];
  begin(&c);
  if (has_opencl(&c, "")) { /* installed: nothing could be told apart */
    command_end(&c);
    return;
  }
  (void)snprintf(other, sizeof other, "%s/other", c.folder);
  assert_true(has_opencl(&c, other));
  assert_false(has_opencl(&c, "../other")); /* from where one happens to be */
  shell(&c, "chmod 757 other");
  assert_false(has_opencl(&c, other));
  shell(&c, "chmod 755 other; chmod 757 other/lapis-opencl.so");
  assert_false(has_opencl(&c, other));
  shell(&c,
        "chmod 755 other/lapis-opencl.so; ln -s ../other/lapis-opencl.so here");
  char here[200];
  (void)snprintf(here, sizeof here, "%s/here", c.folder);
  assert_true(has_opencl(&c, here));
  shell(&c, "chmod 757 other");
  assert_false(has_opencl(&c, here)); /* a link to what cannot be trusted */
  shell(&c,
        "chmod 755 other; mkdir -m 777 open; mkdir -m 755 open/up open/up/in;"
        "cp -p other/lapis-opencl.so open/up/in; chmod 777 open");
  (void)snprintf(here, sizeof here, "%s/open/up/in", c.folder);
  assert_false(has_opencl(&c, here)); /* whoever moves "up" moves the plug-in */
  shell(&c, "chmod 775 open; chgrp 12345 open || chmod 777 open");
  assert_false(has_opencl(&c, here));
  shell(&c, "chmod 1777 open"); /* as /tmp */
  assert_true(has_opencl(&c, here));
  if (geteuid() == 0) {
    shell(&c, "chmod 755 open; chown 12345 open");
    assert_false(has_opencl(&c, here));
    shell(&c, "chmod 755 other; chown 12345 other/lapis-opencl.so");
    assert_true(has_opencl(&c, other) == false);
  }
  command_end(&c);
}

/* No search path: an empty element would be the current folder. */
static void a_library_lying_here_is_not_loaded(void **state)
{
  command c;
  command_begin(&c);
  shell(&c, "for l in libzip.so.4 libz.so.1 libopenblas.so.0 libpng16.so.16 "
            "libhdf5_serial.so.103 libgomp.so.1; do echo junk > $l; done");
  command_do(&c, "--version");
  command_end(&c);
}

int test_plugin(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_found_beside_the_command),
      cmocka_unit_test(what_others_can_write_is_not_opened),
      cmocka_unit_test(a_library_lying_here_is_not_loaded)};
  return run_cases(tests, NULL, NULL);
}
