/* What the command says about itself: manual pages and shell completion. */
#include "command.h"

/* The last line of what bash offers for a line of words. */
static void complete(command *c, const char *words)
{
  char script[2048];
  snprintf(
      script, sizeof script,
      "cd %s && %s help --bash >complete.bash && bash -c '"
      ". ./complete.bash; COMP_WORDS=(%s); "
      "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lapis; "
      "printf \" %%s\" \"${COMPREPLY[@]}\"; echo \" \"' >.stdout 2>.stderr",
      c->folder, getenv("LAPIS_COMMAND"), words);
  assert_int_equal(system(script), 0);
  command_slurp(c, ".stdout", c->out, sizeof c->out);
  command_slurp(c, ".stderr", c->err, sizeof c->err);
  assert_string_equal(c->err, "");
}

static void offers(command *c, const char *words, const char *wanted)
{
  char word[128];
  snprintf(word, sizeof word, " %s ", wanted);
  complete(c, words);
  if (strstr(c->out, word) == NULL)
    fail_msg("%s: '%s' is not among '%s'", words, wanted, c->out);
}

static void offers_only(command *c, const char *words, const char *wanted)
{
  complete(c, words);
  char line[1024];
  snprintf(line, sizeof line, " %s \n", wanted);
  assert_string_equal(c->out, line);
}

static void shells_complete(void **state)
{
  command c;
  command_begin(&c);
  command_write(&c, "data.npz", "x", 1);
  offers_only(&c, "lapis fi", "fit");
  offers(&c, "lapis \"\"", "predict");
  offers_only(&c, "lapis fit m", "mc misvm");
  offers_only(&c, "lapis cv svm", "svmplus");
  offers_only(&c, "lapis fit mc --vari", "--variant");
  offers(&c, "lapis fit mc -", "--checkpoint");
  offers(&c, "lapis fit mc -", "-o");
  offers(&c, "lapis fit mc -", "--threads");
  offers_only(&c, "lapis fit mc --variant \"\"", "mc1 pos simplex");
  offers_only(&c, "lapis fit mc --variant = s", "simplex");
  offers_only(&c, "lapis fit mc data.npz --progress a", "auto always");
  offers_only(&c, "lapis fit roml --start m", "mst");
  offers_only(&c, "lapis fit mc dat", "data.npz");
  offers_only(&c, "lapis fit mc --json dat", "data.npz");
  offers_only(&c, "lapis fit mc -o dat", "data.npz");
  offers_only(&c, "lapis predict dat", "data.npz");
  offers(&c, "lapis eval \"\"", "auroc");
  offers_only(&c, "lapis cv mc --metric au", "auroc");
  offers_only(&c, "lapis label photos --features col", "color-moments");
  offers_only(&c, "lapis features dense", "dense-sift-bow");
  offers_only(&c, "lapis help lab", "label");
  offers_only(&c, "lapis help tex", "texton-bow");
  command_end(&c);
}

/* Every setting of every method, with its values. */
static void every_setting_is_completed(void **state)
{
  command c;
  char words[256], option[96];
  command_begin(&c);
  for (int k = 0; lapis_method_at(k) != NULL; k++) {
    const lapis_method *m = lapis_method_at(k);
    snprintf(words, sizeof words, "lapis fit %s --", m->name);
    complete(&c, words);
    for (int i = 0; i < m->n_params; i++) {
      snprintf(option, sizeof option, " --%s ", m->params[i].name);
      if (strstr(c.out, option) == NULL) fail_msg("%s: no%s", m->name, option);
    }
    for (int i = 0; i < m->n_params; i++) {
      const lapis_param *p = &m->params[i];
      if (p->type != LAPIS_PARAM_ENUM) continue;
      char first[64];
      snprintf(first, sizeof first, "%.*s", (int)strcspn(p->choices, "|"),
               p->choices);
      snprintf(words, sizeof words, "lapis fit %s --%s \"\"", m->name, p->name);
      offers(&c, words, first);
    }
  }
  command_end(&c);
}

/* groff says nothing, and the page names every setting. */
static void pages_are_clean(void **state)
{
  command c;
  char names[8192], line[256];
  if (system("command -v groff >/dev/null") != 0) {
    print_message("skipped: there is no groff\n");
    skip();
  }
  command_begin(&c);
  command_do(&c, "help --man");
  strcpy(names, c.out);
  int pages = 0, methods = 0;
  while (lapis_method_at(methods) != NULL) methods++;
  for (char *name = strtok(names, "\n"); name != NULL;
       name = strtok(NULL, "\n"), pages++) {
    snprintf(line, sizeof line,
             "help --man %s >page.1 && groff -man -Tascii -P-cbou -ww page.1",
             name);
    command_do(&c, "%s", line);
    if (*c.err != '\0') fail_msg("%s: %s", name, c.err);
    if (strstr(c.out, "EXIT STATUS") == NULL) fail_msg("%s ends early", name);
    const lapis_method *m = lapis_method_find(name + strcspn(name, "-") + 1);
    for (int i = 0; strchr(name, '-') != NULL && m != NULL && i < m->n_params;
         i++) {
      snprintf(line, sizeof line, "--%s", m->params[i].name);
      if (strstr(c.out, line) == NULL) fail_msg("%s: no %s", name, line);
    }
  }
  assert_true(pages > 1 + methods);
  command_do(&c, "help --man lapis-label >long");
  command_do(&c, "help --man label | diff - long");
  command_run(&c, "help --man lapis-nothing");
  command_expect(&c, 2, "lapis-nothing");
  command_run(&c, "help labl");
  command_expect(&c, 2, "label");
  command_end(&c);
}

int test_generated(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shells_complete),
      cmocka_unit_test(every_setting_is_completed),
      cmocka_unit_test(pages_are_clean),
  };
  return run_cases(tests, NULL, NULL);
}
