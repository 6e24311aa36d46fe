/* formats.c - lapis formats: what can be read and written. */
#include <stdlib.h>

#include "command/command.h"
#include "lapis/images.h"

static const cli_option options[] = {{NULL, 0, NULL, NULL}};

static void print_format(const lapis_format *f)
{
  printf("%-6s %-24s %s; holds %s%s", f->name, f->endings, f->title, f->holds,
         f->sparse ? "; sparse stays sparse" : "");
  if (!f->built) printf(" (not built in; Debian: %s)", f->package);
  printf("\n");
}

static lapis_json *format_json(const lapis_format *f)
{
  lapis_json *to = lapis_json_object();
  lapis_json_put_text(to, "name", f->name);
  lapis_json_put_text(to, "endings", f->endings);
  lapis_json_put_text(to, "title", f->title);
  lapis_json_put_text(to, "holds", f->holds);
  lapis_json_put_bool(to, "sparse", f->sparse);
  lapis_json_put_bool(to, "built", f->built);
  lapis_json_put_text(to, "package", f->package);
  return to;
}

lapis_json *formats_json(void)
{
  lapis_json *list = lapis_json_list();
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    lapis_json_put(list, NULL, format_json(lapis_format_at(i)));
  return list;
}

lapis_json *image_formats_json(void)
{
  lapis_json *list = lapis_json_list();
  for (int i = 0; lapis_image_format_at(i) != NULL; i++) {
    const lapis_image_format *f = lapis_image_format_at(i);
    lapis_json *to = lapis_json_object();
    lapis_json_put_text(to, "name", f->name);
    lapis_json_put_text(to, "endings", f->endings);
    lapis_json_put_text(to, "title", f->title);
    lapis_json_put_bool(to, "built", f->built);
    lapis_json_put_text(to, "package", f->package);
    lapis_json_put(list, NULL, to);
  }
  return list;
}

static void print_image_formats(void)
{
  printf("\nImages, read by 'lapis features':\n");
  for (int i = 0; lapis_image_format_at(i) != NULL; i++) {
    const lapis_image_format *f = lapis_image_format_at(i);
    printf("%-6s %-24s %s", f->name, f->endings, f->title);
    if (!f->built) printf(" (not built in; Debian: %s)", f->package);
    printf("\n");
  }
}

static int run(cli *c)
{
  if (c->args.n_words > 0)
    return cli_fail(EXIT_MISUSE,
                    "formats: takes no '%s'; 'lapis info FILE' says what is in "
                    "a file",
                    c->args.word[0]);
  if (c->json) {
    lapis_json *to = lapis_json_object();
    lapis_json_put(to, "formats", formats_json());
    lapis_json_put(to, "images", image_formats_json());
    return print_json(to);
  }
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    print_format(lapis_format_at(i));
  print_image_formats();
  return EXIT_DONE;
}

const cli_verb verb_formats = {.name = "formats",
                               .synopsis = "formats",
                               .help =
                                   "list the files that are read and written",
                               .options = options,
                               .run = run};
