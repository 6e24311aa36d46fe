/* python.h - scripts beside the tests, run by the system's Python. */
#ifndef LAPIS_PYTHON_H
#define LAPIS_PYTHON_H
#include "check.h"

/* Skips the running test where /usr/bin/python3 cannot import all of "a, b". */
static inline void python_need(const char *modules)
{
  char line[256];
  (void)snprintf(line, sizeof line,
                 "/usr/bin/python3 -c 'import %s' 2>/dev/null", modules);
  if (system(line) == 0) return;
  print_message("skipped: no /usr/bin/python3 with %s\n", modules);
  skip();
}

/* Without a browser it says so and returns false. */
static inline bool python_has_browser(void)
{
  if (system("command -v chromedriver >/dev/null && "
             "command -v chromium >/dev/null") == 0)
    return true;
  print_message("skipped: no chromium and chromedriver\n");
  return false;
}

/* Skips the running test where a page cannot be tried in a browser. */
static inline void python_need_browser(void)
{
  python_need("json");
  if (!python_has_browser()) skip();
}

/* A file in the folder of this one. */
static inline void beside(const char *name, char *path, size_t size)
{
  (void)snprintf(path, size, "%s/tests/checks/%s", LAPIS_TREE, name);
}

/* Runs tests/NAME with these words; fails unless it succeeds. */
static inline void python_run(const char *name, const char *words)
{
  char script[512], line[2048];
  beside(name, script, sizeof script);
  (void)snprintf(line, sizeof line, "/usr/bin/python3 %s %s", script, words);
  if (system(line) != 0) fail_msg("failed: %s", line);
}
#endif
