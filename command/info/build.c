/* build.c - what this LAPIS is and what is built into it. */
#include "info.h"
#include "lapis/images.h"

/* All kinds of image are one part, built in or not. */
static bool has_mpi(void)
{
  char why[512];
  return lapis_mpi_is_there(why, sizeof why);
}

static bool has_device(const char *kind)
{
  char why[512];
  return lapis_device_is_there(kind, why, sizeof why);
}

static bool images_built(void)
{
  bool built = true;
  for (int i = 0; lapis_image_format_at(i) != NULL; i++)
    built = built && lapis_image_format_at(i)->built;
  return built;
}

static int build_json(cli *c)
{
  lapis_json *to = lapis_json_object(), *methods = lapis_json_list();
  lapis_json *parts = lapis_json_object(), *backends = lapis_json_list();
  for (int i = 0; lapis_method_at(i) != NULL; i++)
    lapis_json_put_text(methods, NULL, lapis_method_at(i)->name);
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    if (lapis_format_at(i)->package != NULL)
      lapis_json_put_bool(parts, lapis_format_at(i)->name,
                          lapis_format_at(i)->built);
  lapis_json_put_bool(parts, "images", images_built());
  lapis_json_put_bool(parts, "mpi", has_mpi());
  lapis_json_put_bool(parts, "opencl", has_device("opencl"));
  lapis_json_put_bool(parts, "cuda", has_device("cuda"));
  lapis_json_put_text(to, "lapis", lapis_version());
  lapis_json_put_text(to, "backend", lapis_ctx_backend(c->ctx));
  lapis_json_put_text(to, "kernels", lapis_ctx_kernels(c->ctx));
  for (int i = 0; lapis_backend_at(i) != NULL; i++) {
    const lapis_backend *b = lapis_backend_at(i);
    lapis_json *row = lapis_json_object();
    lapis_json_put_text(row, "name", b->name);
    lapis_json_put_text(row, "what", b->what);
    lapis_json_put_text(row, "methods", b->methods);
    lapis_json_put(backends, NULL, row);
  }
  lapis_json_put(to, "backends", backends);
  lapis_json_put_integer(to, "threads", lapis_ctx_threads(c->ctx));
  lapis_json_put(to, "methods", methods);
  lapis_json_put(to, "parts", parts);
  lapis_json_put(to, "formats", formats_json());
  lapis_json_put(to, "images", image_formats_json());
  return print_json(to);
}

static void print_part(const char *name, bool built, const char *package)
{
  if (built)
    printf("  %-9s built in\n", name);
  else
    printf("  %-9s not built in; Debian: %s\n", name, package);
}

int info_build(cli *c)
{
  if (c->json) return build_json(c);
  printf("lapis %s\nbackend  %s\nkernels  %s\nthreads  %d\nmethods ",
         lapis_version(), lapis_ctx_backend(c->ctx), lapis_ctx_kernels(c->ctx),
         lapis_ctx_threads(c->ctx));
  for (int i = 0; lapis_method_at(i) != NULL; i++)
    printf(" %s", lapis_method_at(i)->name);
  printf("\nformats ");
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    if (lapis_format_at(i)->built) printf(" %s", lapis_format_at(i)->name);
  printf("\nimages  ");
  for (int i = 0; lapis_image_format_at(i) != NULL; i++)
    if (lapis_image_format_at(i)->built)
      printf(" %s", lapis_image_format_at(i)->name);
  printf("\nbackends\n");
  for (int i = 0; lapis_backend_at(i) != NULL; i++)
    printf("  %-9s %s\n            methods: %s\n", lapis_backend_at(i)->name,
           lapis_backend_at(i)->what, lapis_backend_at(i)->methods);
  printf("optional parts\n");
  for (int i = 0; lapis_format_at(i) != NULL; i++)
    if (lapis_format_at(i)->package != NULL)
      print_part(lapis_format_at(i)->name, lapis_format_at(i)->built,
                 lapis_format_at(i)->package);
  print_part("mpi", has_mpi(), "libopenmpi-dev or libmpich-dev");
  print_part("opencl", has_device("opencl"), "ocl-icd-opencl-dev");
  print_part("cuda", has_device("cuda"), "lapis-cuda");
  print_part("images", images_built(),
             "libpng-dev libjpeg62-turbo-dev libvlfeat-dev");
  return EXIT_DONE;
}
