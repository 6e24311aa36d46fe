/* parts_folder.c - a folder of parts: the names in it, and whether it may be
 * one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

void parts_name(int part, int parts, const char *run, char *to)
{
  (void)snprintf(to, NAME_BYTES, "part-%04d-of-%04d-%s.npz", part, parts, run);
}

/* A part's name, and its run (RUN_BYTES); behind it there may be more where it
 * is not written yet. */
static bool is_part(const char *name, bool whole, char *run)
{
  int part, parts, used = 0;
  int found = sscanf(name, "part-%4d-of-%4d-%16[0-9a-f].npz%n", &part, &parts,
                     run, &used);
  return found == 3 && used > 0 && (!whole || name[used] == '\0');
}

static bool is_unfinished(const char *name)
{
  char run[RUN_BYTES];
  return name[0] == '.' &&
         (is_part(name + 1, false, run) ||
          strncmp(name + 1, parts_index, strlen(parts_index)) == 0);
}

static lapis_status check_contents(lapis_ctx *ctx, const char *folder)
{
  char shown[256], run[RUN_BYTES];
  DIR *d = opendir(folder);
  if (d == NULL) return io_fail_errno(ctx, folder, "cannot be opened");
  lapis_status s = LAPIS_OK;
  for (struct dirent *e; s >= 0 && (e = readdir(d)) != NULL;) {
    const char *name = e->d_name;
    struct stat st;
    int failed = fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW);
    if (failed && errno == ENOENT) continue; /* another run took it away */
    bool file = !failed &&
                (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
                 S_ISLNK(st.st_mode)); /* no pipe, which would be waited for */
    bool ours = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                (file && (strcmp(name, parts_index) == 0 ||
                          is_part(name, true, run) || is_unfinished(name)));
    if (!ours)
      s = lapis_fail(ctx, LAPIS_EIO,
                     "%s: holds other files (%s); name a new folder, or one "
                     "with a result in parts",
                     folder, lapis_text_shown(name, shown, sizeof shown));
  }
  (void)closedir(d);
  return s;
}

/* made: whether the folder was not there before. */
static lapis_status make_folder(lapis_ctx *ctx, const char *folder, bool *made)
{
  struct stat st;
  *made = mkdir(folder, 0777) == 0;
  if (!*made && errno != EEXIST)
    return io_fail_errno(ctx, folder, "cannot be made");
  if (!*made && stat(folder, &st) != 0)
    return io_fail_errno(ctx, folder, "is a link to what is not there");
  if (!*made && !S_ISDIR(st.st_mode))
    return lapis_fail(ctx, LAPIS_EIO, "%s: is not a folder; name one", folder);
  return LAPIS_OK;
}

static lapis_status fail_alone(lapis_ctx *ctx, const char *folder)
{
  if (errno == EBUSY)
    return lapis_fail(ctx, LAPIS_EIO,
                      "%s: another run writes to this folder; wait for its "
                      "end, or name another one",
                      folder);
  if (errno == EEXIST)
    return lapis_fail(ctx, LAPIS_EIO,
                      "%s: .%s.lapis-0.tmp there is of a run that may be at "
                      "work; if none is, remove it",
                      folder, parts_index);
  return io_fail_errno(ctx, folder, "cannot be written to");
}

/* Another that found it in our way may take the folder along when it goes. */
lapis_status parts_lock(lapis_ctx *ctx, const char *folder, parts_hold *hold)
{
  enum { TRIES = 10 };
  char index[PATH_BYTES];
  hold->fd = -1;
  if (strlen(folder) + NAME_BYTES > PATH_BYTES)
    return lapis_fail(ctx, LAPIS_EINVAL,
                      "%s: the path is too long; name a shorter one", folder);
  parts_join(folder, parts_index, index);
  for (int k = 0; k < TRIES; k++) {
    TRY(make_folder(ctx, folder, &hold->made));
    lapis_status s = check_contents(ctx, folder);
    if (s < 0 && io_exists(folder)) return s;
    hold->fd = io_temporary_alone(index, 0666, hold->lock);
    if (hold->fd >= 0) return LAPIS_OK;
    if (errno != ENOENT) break;
  }
  lapis_status s = fail_alone(ctx, folder);
  if (hold->made) (void)rmdir(folder);
  return s;
}

void parts_unlock(const char *folder, parts_hold *hold)
{
  if (hold->fd < 0) return;
  (void)unlink(hold->lock);
  (void)close(hold->fd);
  hold->fd = -1;
  if (hold->made) (void)rmdir(folder); /* where nothing was written */
}

void parts_sweep(const char *folder, const char *run)
{
  char own[RUN_BYTES];
  DIR *d = opendir(folder);
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
    if ((is_part(e->d_name, true, own) && strcmp(own, run) != 0) ||
        (e->d_name[0] == '.' && is_part(e->d_name + 1, false, own)))
      (void)unlinkat(dirfd(d), e->d_name, 0);
  if (d != NULL) (void)closedir(d);
}

lapis_status parts_find(lapis_ctx *ctx, const char *folder)
{
  char path[PATH_BYTES];
  char run[RUN_BYTES];
  bool begun = false;
  parts_join(folder, parts_index, path);
  if (strlen(folder) + NAME_BYTES <= PATH_BYTES && io_is_file(path))
    return LAPIS_OK;
  DIR *d = opendir(folder);
  for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
    begun = begun || is_part(e->d_name, true, run) || is_unfinished(e->d_name);
  if (d != NULL) (void)closedir(d);
  return lapis_fail(ctx, LAPIS_EIO,
                    begun ? "%s: has parts of a result and no index.json: the "
                            "run that wrote them did not end; run it again"
                          : "%s: is a folder without index.json, which a "
                            "result in parts has; name a file",
                    folder);
}
