/* plugin.c - finding and opening plug-ins: lapis-opencl,
 * lapis-mpi-openmpi and lapis-mpi-mpich.
 *
 * A plug-in is code that runs with all that the caller may do, so it is opened
 * only from where its owner is known: the folder that LAPIS_PLUGINS names
 * (never where privileges were gained, as by setuid), the one that holds this
 * code (the command or liblapis), ../lib/lapis from there, and where LAPIS was
 * installed.  The file and every folder above it have to belong to root or the
 * user, and nobody else may write to them.  What was opened stays in memory
 * (RTLD_NODELETE): opening again costs nothing, and no global holds it. */
#define _GNU_SOURCE /* secure_getenv, dl_iterate_phdr */
#include <dlfcn.h>
#include <grp.h>
#include <link.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parallel/plugin.h"

enum { PATH_TEXT = 4096 };

/* ---- where this code is -------------------------------------------------*/
typedef struct home {
  uintptr_t code; /* an address in it */
  int before;     /* objects looked at; the program is the first */
  char path[PATH_TEXT];
} home;

static int is_home(struct dl_phdr_info *object, size_t size, void *user)
{
  home *h = user;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD || h->code < from ||
        h->code - from >= part->p_memsz)
      continue;
    snprintf(h->path, sizeof h->path, "%s",
             h->before == 0 ? "/proc/self/exe" : object->dlpi_name);
    return 1;
  }
  h->before++;
  return 0;
}

/* The folder of the command or of liblapis.so, and what lies beside it. */
static bool own_folder(const char *beside, char *to)
{
  home h = {.code = (uintptr_t)base_plugin};
  char *real = NULL;
  if (dl_iterate_phdr(is_home, &h) != 0) real = realpath(h.path, NULL);
  char *slash = real == NULL ? NULL : strrchr(real, '/');
  if (slash != NULL) *slash = '\0';
  int n = slash == NULL ? -1 : snprintf(to, PATH_TEXT, "%s%s", real, beside);
  free(real);
  return n >= 0 && n < PATH_TEXT;
}

/* ---- trust ----------------------------------------------------------------*/
/* Whether the group is the user's alone, as systems make one for each: called
 * as the user is, with no other members. */
static bool is_own_group(gid_t id)
{
  char names[PATH_TEXT], members[PATH_TEXT];
  struct passwd user, *is_user;
  struct group group, *is_group;
  if (getpwuid_r(geteuid(), &user, names, sizeof names, &is_user) != 0 ||
      getgrgid_r(id, &group, members, sizeof members, &is_group) != 0 ||
      is_user == NULL || is_group == NULL ||
      strcmp(user.pw_name, group.gr_name) != 0)
    return false;
  for (char **m = group.gr_mem; *m != NULL; m++)
    if (strcmp(*m, user.pw_name) != 0) return false;
  return true;
}

/* Of a folder above others, as /tmp is: who may write to it cannot move what
 * belongs to us, where it is sticky. */
static bool is_guarded(const char *path, bool *above)
{
  struct stat s;
  if (stat(path, &s) != 0) return false;
  bool sticky = *above && (s.st_mode & S_ISVTX) != 0;
  bool group = (s.st_mode & S_IWGRP) != 0 && !is_own_group(s.st_gid);
  bool open = group || (s.st_mode & S_IWOTH) != 0;
  *above = S_ISDIR(s.st_mode);
  return (s.st_uid == geteuid() || s.st_uid == 0) && (!open || sticky);
}

bool base_is_ours(const char *path)
{
  char *real = realpath(path, NULL);
  bool above = false, ours = real != NULL && is_guarded(real, &above);
  while (ours && real[1] != '\0') { /* up to the root */
    char *slash = strrchr(real, '/');
    slash[slash == real] = '\0';
    ours = is_guarded(real, &above);
  }
  free(real);
  return ours;
}

/* ---- opening ------------------------------------------------------------*/
/* The file itself, whatever links lead to it; to be freed, NULL: there is
 * none that can be trusted. */
static char *trusted(const char *folder, const char *name, char *why,
                     size_t size)
{
  char path[PATH_TEXT];
  if (folder == NULL || folder[0] != '/') return NULL;
  int length = snprintf(path, sizeof path, "%s/%s.so", folder, name);
  if (length < 0 || length >= PATH_TEXT) return NULL;
  char *real = realpath(path, NULL);
  if (real == NULL) return NULL;
  if (base_is_ours(real)) return real;
  snprintf(why, size,
           "%.200s is not opened: it or a folder above it belongs to someone "
           "else, or others can write to it",
           path);
  free(real);
  return NULL;
}

/* The table of functions; its first member is its version. */
static const int *open_in(const char *folder, const base_plugin_kind *k,
                          char *why, size_t size)
{
  char *path = trusted(folder, k->file, why, size);
  if (path == NULL) return NULL;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const int *api = library == NULL ? NULL : dlsym(library, k->symbol);
  if (library == NULL) snprintf(why, size, "%.200s: %.200s", path, dlerror());
  if (library != NULL) dlclose(library);
  bool fits = api != NULL && *api == k->version;
  if (library != NULL && !fits)
    snprintf(why, size, "%.200s is of another version of LAPIS", path);
  free(path);
  return fits ? api : NULL;
}

const void *base_plugin(const base_plugin_kind *k, char *why, size_t size)
{
  char here[PATH_TEXT], beside[PATH_TEXT];
  const char *folder[] = {secure_getenv("LAPIS_PLUGINS"),
                          own_folder("", here) ? here : NULL,
                          own_folder("/../lib/lapis", beside) ? beside : NULL,
                          LAPIS_PLUGINS_INSTALLED};
  snprintf(why, size,
           "the plug-in %s is not installed (Debian: %s, then build LAPIS "
           "again)",
           k->file, k->package);
  for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
    const int *api = open_in(folder[i], k, why, size);
    if (api != NULL) return api;
  }
  return NULL;
}
