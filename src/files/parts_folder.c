/* parts_folder.c - a folder of parts: the names in it, and whether it may be
 * one. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/io.h"
#include "files/parts_folder.h"

const char parts_index[] = "index.json";

/* "DIR/name", whether or not the folder was given with its slash. */
void parts_join(const char *folder, const char *name, char *to)
{
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') length--;
  (void)snprintf(to, PATH_BYTES, "%.*s/%s", (int)length, folder, name);
}

void parts_name(int part, int parts, char *to)
{
  (void)snprintf(to, NAME_BYTES, "part-%04d-of-%04d.npz", part, parts);
}

/* A part's name; behind it there may be more where it is not written yet. */
static bool is_part(const char *name, bool whole)
{
  int part, parts, used = 0;
  bool named = sscanf(name, "part-%4d-of-%4d.npz%n", &part, &parts, &used) == 2;
  return named && used > 0 && (!whole || name[used] == '\0');
}

static bool is_unfinished(const char *name)
{
  return name[0] == '.' &&
         (is_part(name + 1, false) ||
          strncmp(name + 1, parts_index, strlen(parts_index)) == 0);
}

static lapis_status check_contents(lapis_ctx *ctx, const char *folder)
{
  char shown[256];
  DIR *d = opendir(folder);
  if (d == NULL) return io_fail_errno(ctx, folder, "cannot be opened");
  lapis_status s = LAPIS_OK;
  for (struct dirent *e; s >= 0 && (e = readdir(d)) != NULL;) {
    const char *name = e->d_name;
    bool ours = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                strcmp(name, parts_index) == 0 || is_part(name, true) ||
                is_unfinished(name);
    if (!ours)
      s = lapis_fail(ctx, LAPIS_EIO,
                     "%s: holds other files (%s); name a new folder, or one "
                     "with a result in parts",
                     folder, lapis_text_shown(name, shown, sizeof shown));
  }
  (void)closedir(d);
  return s;
}

lapis_status lapis_parts_check(lapis_ctx *ctx, const char *folder)
{
  NEEDS(ctx, ctx, folder);
  struct stat st;
  char path[PATH_BYTES], *slash;
  if (strlen(folder) + NAME_BYTES > PATH_BYTES)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: the path is too long; name a shorter one", folder);
  if (stat(folder, &st) == 0) {
    if (!S_ISDIR(st.st_mode))
      return lapis_fail(ctx, LAPIS_EIO, "%s: is no folder; name one", folder);
    if (access(folder, W_OK) != 0)
      return io_fail_errno(ctx, folder, "cannot be written to");
    return check_contents(ctx, folder);
  }
  parts_join(folder, "", path);
  *strrchr(path, '/') = '\0';
  slash = strrchr(path, '/');
  if (slash != NULL) slash[slash == path] = '\0';
  if (access(slash != NULL ? path : ".", W_OK) == 0) return LAPIS_OK;
  return io_fail_errno(ctx, folder, "cannot be made");
}

/* Removes the names that `gone` finds. */
static void sweep(const char *folder, bool (*gone)(const char *name))
{
  DIR *d = opendir(folder);
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
    if (gone(e->d_name)) (void)unlinkat(dirfd(d), e->d_name, 0);
  if (d != NULL) (void)closedir(d);
}

static bool is_index(const char *name)
{
  return strcmp(name, parts_index) == 0;
}

static bool is_whole_part(const char *name)
{
  return is_part(name, true);
}

/* Of the one that has files: a folder in which parts may be begun. */
lapis_status parts_prepare(lapis_ctx *ctx, const char *folder)
{
  TRY(lapis_parts_check(ctx, folder));
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return io_fail_errno(ctx, folder, "cannot be made");
  sweep(folder, is_unfinished); /* of a run that was killed */
  return LAPIS_OK;
}

lapis_status parts_find(lapis_ctx *ctx, const char *folder)
{
  char path[PATH_BYTES];
  bool begun = false;
  parts_join(folder, parts_index, path);
  if (strlen(folder) + NAME_BYTES <= PATH_BYTES && io_is_file(path))
    return LAPIS_OK;
  DIR *d = opendir(folder);
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
    begun = begun || is_part(e->d_name, true) || is_unfinished(e->d_name);
  if (d != NULL) (void)closedir(d);
  return lapis_fail(ctx, LAPIS_EIO,
                    begun ? "%s: has parts of a result and no index.json: the "
                            "run that wrote them did not end; run it again"
                          : "%s: is a folder without index.json, which a "
                            "result in parts has; name a file",
                    folder);
}

void parts_sweep(const char *folder)
{
  sweep(folder, is_index);
  sweep(folder, is_whole_part);
}
