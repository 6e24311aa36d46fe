/* picture.c - lapis info of a picture, and of a folder of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "info.h"

const char *info_picture_format(const char *path)
{
  const char *ending = strrchr(path, '.');
  char wanted[16];
  if (ending == NULL || strlen(ending) >= sizeof wanted - 1) return NULL;
  for (int i = 0; lapis_image_format_at(i) != NULL; i++) {
    const char *at = lapis_image_format_at(i)->endings;
    for (size_t n; *at != '\0'; at += n + (at[n] == ' ')) {
      n = strcspn(at, " ");
      if (strlen(ending) == n && strncasecmp(at, ending, n) == 0)
        return lapis_image_format_at(i)->name;
    }
  }
  return NULL;
}

bool info_picture(cli *c, const char *path, int *code)
{
  lapis_image image;
  if (strcmp(path, "-") == 0) return false;
  lapis_status s = lapis_image_read(c->ctx, path, &image);
  if (s < 0) { /* what is called a picture is told why it is none */
    bool called = info_picture_format(path) != NULL;
    if (called) *code = cli_fail_status(c, s);
    return called;
  }
  char shown[4096];
  const char *colours = image.channels == 1 ? "grey" : "colour";
  *code = EXIT_DONE;
  if (c->json) {
    lapis_json *to = lapis_json_object();
    lapis_json_put_text(to, "file", path);
    lapis_json_put_text(to, "format", "picture");
    lapis_json_put_integer(to, "width", image.width);
    lapis_json_put_integer(to, "height", image.height);
    lapis_json_put_integer(to, "channels", image.channels);
    *code = print_json(to);
  } else {
    lapis_text_shown(path, shown, sizeof shown);
    printf("%s: a picture, %" PRId64 " x %" PRId64 " pixels, %s\n"
           "  methods read numbers that are made of pictures, for example: "
           "lapis features color-moments",
           shown, image.width, image.height, colours);
    shell_file(stdout, path);
    printf(" -o features.npz\n"
           "  labels of many pictures, of which some are known: lapis label "
           "FOLDER --labels F.csv\n");
  }
  lapis_image_free(&image);
  return true;
}

/* "12 pictures (10 png, 2 jpeg)" */
static void print_formats(const lapis_mat *names)
{
  const char *const *name = names->val;
  printf("%" PRId64 " picture%s (", names->cols, cli_s(names->cols));
  const char *before = "";
  int64_t others = names->cols;
  for (int i = 0; lapis_image_format_at(i) != NULL; i++) {
    const char *format = lapis_image_format_at(i)->name;
    int64_t count = 0;
    for (int64_t j = 0; j < names->cols; j++) {
      const char *own = info_picture_format(name[j]);
      count += own != NULL && strcmp(own, format) == 0;
    }
    if (count > 0) printf("%s%" PRId64 " %s", before, count, format);
    if (count > 0) before = ", ";
    others -= count;
  }
  if (others > 0) printf("%s%" PRId64 " that cannot be read", before, others);
  printf(")");
}

/* Whether some pictures lie in folders of path. */
static bool has_folders(const lapis_mat *names, const char *path)
{
  size_t size = strlen(path);
  while (size > 0 && path[size - 1] == '/') size--;
  for (int64_t j = 0; j < names->cols; j++) {
    const char *name = ((const char *const *)names->val)[j];
    if (strlen(name) > size && strchr(name + size + 1, '/') != NULL)
      return true;
  }
  return false;
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What label remarks of folders that are classes. */
static void print_classes(cli *c, const lapis_mat *names)
{
  lapis_array class_ = {.mat = {.cols = 0}};
  char a[512], b[512];
  lapis_status s =
      lapis_image_classes(c->ctx, names->val, names->cols, &class_);
  const char **name = class_.mat.val;
  int64_t n = class_.mat.cols, count = 0;
  if (s >= 0) qsort((void *)name, (size_t)n, sizeof *name, by_text);
  for (int64_t j = 0, end; j < n; j = end) {
    for (end = j; end < n && strcmp(name[j], name[end]) == 0;) end++;
    if (end - j == 1 && *name[j] != '\0')
      printf(
          "\n  note: the class \"%s\" has one image alone, so that its label "
          "cannot be doubted; is it spelt right?",
          lapis_text_shown(name[j], a, sizeof a));
    if (*name[j] != '\0') name[count++] = name[j];
  }
  if (lapis_text_twins(name, count, NULL, "and", a, sizeof a) > 0)
    printf("\n  note: the classes %s differ in case or blanks alone",
           lapis_text_shown(a, b, sizeof b));
  lapis_array_free(&class_);
}

int info_folder(cli *c, const char *path)
{
  int code = EXIT_DONE;
  lapis_array list = {.mat = {.cols = 0}};
  lapis_image first = {.width = 0};
  char shown[4096];
  lapis_status s = lapis_image_list(c->ctx, &path, 1, &list);
  if (s < 0) return cli_fail_status(c, s);
  const char *const *name = list.mat.val;
  bool read =
      list.mat.cols > 0 && lapis_image_read(c->ctx, name[0], &first) >= 0;
  if (c->json) {
    lapis_json *to = lapis_json_object();
    lapis_json_put_text(to, "file", path);
    lapis_json_put_text(to, "format", "folder");
    lapis_json_put_integer(to, "pictures", list.mat.cols);
    code = print_json(to);
  } else {
    lapis_text_shown(path, shown, sizeof shown);
    printf("%s: a folder of ", shown);
    print_formats(&list.mat);
    if (read)
      printf(", the first of %" PRId64 " x %" PRId64 " pixels, %s", first.width,
             first.height, first.channels == 1 ? "grey" : "colour");
    printf("\n  where some labels are known: lapis label");
    shell_file(stdout, path);
    printf(" --labels F.csv -o page.html\n"
           "  one object in all of them: lapis match");
    shell_file(stdout, path);
    printf(", lapis locate");
    shell_file(stdout, path);
    if (has_folders(&list.mat, path)) {
      printf("\n  its folders are the classes: lapis label");
      shell_file(stdout, path);
      printf(" --folder-is-class -o page.html");
      print_classes(c, &list.mat);
    }
    printf("\n  numbers for the methods: lapis features pixels");
    shell_file(stdout, path);
    printf(" -o F.npz; other kinds: lapis features --help\n");
  }
  if (read) lapis_image_free(&first);
  lapis_array_free(&list);
  return code;
}
