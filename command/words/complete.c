/* complete.c - shell completion, made from the tables: functions that answer
 * which options there are and what values they take, then the few lines that
 * are the same for every table. */
#include <string.h>

#include "option_rows.h"

/* ---- tables as shell functions ------------------------------------------*/
static void print_name(const option_row *r, void *user)
{
  FILE *to = user;
  bool plain = r->letter == 0 || strlen(r->name) > 1;
  if (plain) fprintf(to, " --%s", r->name);
  if (r->letter != 0) fprintf(to, " -%c", r->letter);
}

typedef struct names { /* of whose option the value is */
  FILE *to;
  const char *owner;
} names;

static void print_words(FILE *to, const char *choices)
{
  for (; choices != NULL && *choices != '\0'; choices++)
    fputc(*choices == '|' ? ' ' : *choices, to);
}

static void print_value(const option_row *r, void *user)
{
  const names *n = user;
  if (r->arg == NULL) return;
  fprintf(n->to, "  %s--%s%s", n->owner, r->name,
          r->letter != 0 ? "|" : ") echo '");
  if (r->letter != 0) fprintf(n->to, "%s-%c) echo '", n->owner, r->letter);
  print_words(n->to, r->choices);
  if (strcmp(r->name, "features") == 0)
    for (int i = 0; lapis_feature_at(i) != NULL; i++)
      fprintf(n->to, "%s ", lapis_feature_at(i)->name);
  if (strcmp(r->name, "metric") == 0)
    for (int i = 0; lapis_metric_at(i) != NULL; i++)
      fprintf(n->to, "%s ", lapis_metric_at(i)->name);
  fprintf(n->to, "%s' ;;\n", r->file ? " :file" : "");
}

static void print_options(FILE *to, verb_list *verb_at)
{
  fputs("_lapis_options() {\n  case $1 in\n  every) echo", to);
  rows_everywhere(print_name, to);
  fputs(" ;;\n", to);
  for (int i = 0; verb_at(i) != NULL; i++) {
    fprintf(to, "  %s) echo", verb_at(i)->name);
    rows_of_verb(verb_at(i), print_name, to);
    fputs(" ;;\n", to);
  }
  for (int i = 0; rows_table_at(i) != NULL; i++) {
    const lapis_method *m = rows_table_at(i);
    fprintf(to, "  method:%s) echo", m->name);
    rows_of_method(m, print_name, to);
    fputs(" ;;\n", to);
  }
  fputs("  esac\n}\n", to);
}

static void print_values(FILE *to, verb_list *verb_at)
{
  char owner[64];
  names n = {to, owner};
  fputs("# words, and :file where a file may stand; fails for a switch\n"
        "_lapis_values() {\n  case $1 in\n",
        to);
  strcpy(owner, "every");
  rows_everywhere(print_value, &n);
  for (int i = 0; verb_at(i) != NULL; i++) {
    snprintf(owner, sizeof owner, "%s", verb_at(i)->name);
    rows_of_verb(verb_at(i), print_value, &n);
  }
  for (int i = 0; rows_table_at(i) != NULL; i++) {
    snprintf(owner, sizeof owner, "method:%s", rows_table_at(i)->name);
    rows_of_method(rows_table_at(i), print_value, &n);
  }
  fputs("  *) return 1 ;;\n  esac\n}\n", to);
}

static void print_names(FILE *to, const lapis_method *(*at)(int i))
{
  for (int i = 0; at(i) != NULL; i++)
    fprintf(to, "%s%s", i > 0 ? " " : "", at(i)->name);
}

static void print_verbs(FILE *to, verb_list *verb_at)
{
  fputs("_lapis_verbs='", to);
  for (int i = 0; verb_at(i) != NULL; i++) fprintf(to, "%s ", verb_at(i)->name);
  fputs("help'\n_lapis_methods='", to);
  print_names(to, rows_table_at);
  fputs("'\n# what the first word after a verb is\n_lapis_first() {\n"
        "  case $1 in\n",
        to);
  for (int i = 0; verb_at(i) != NULL; i++) {
    if (verb_at(i)->first_at == NULL) continue;
    fprintf(to, "  %s) echo '", verb_at(i)->name);
    print_names(to, verb_at(i)->first_at);
    fputs("' ;;\n", to);
  }
  fputs("  eval) echo '", to);
  for (int i = 0; lapis_metric_at(i) != NULL; i++)
    fprintf(to, "%s ", lapis_metric_at(i)->name);
  fputs("match-ratio iou' ;;\n"
        "  help) echo \"$_lapis_verbs $_lapis_methods\" ;;\n  *) echo :file "
        ";;\n  esac\n}\n",
        to);
}

/* ---- the same for every table -------------------------------------------*/
/* words: verb, what stands before the word at hand, and the word before it.
 * Prints what may stand here, a word a line or :file. */
static const char candidates[] =
    "_lapis_candidates() { # WORD-BEFORE WORD VERB WORDS-BETWEEN...\n"
    "  local before=$1 word=$2 verb=$3 method='' first=1 w values\n"
    "  shift 3\n"
    "  for w; do\n"
    "    case $w in -*) ;; *)\n"
    "      case \" $_lapis_methods \" in *\" $w \"*)\n"
    "        [ -n \"$method\" ] || method=$w ;;\n"
    "      esac\n"
    "      first='' ;;\n"
    "    esac\n"
    "  done\n"
    "  case $before in -*)\n"
    "    for w in \"method:$method\" \"$verb\" every; do\n"
    "      if values=$(_lapis_values \"$w$before\"); then\n"
    "        echo \"$values\"\n"
    "        return\n"
    "      fi\n"
    "    done ;;\n"
    "  esac\n"
    "  case $word in\n"
    "  -*) echo $(_lapis_options \"method:$method\")"
    " $(_lapis_options \"$verb\") $(_lapis_options every) ;;\n"
    "  *) if [ -n \"$first\" ]; then _lapis_first \"$verb\"; else echo :file; "
    "fi ;;\n"
    "  esac\n"
    "}\n";

static const char in_bash[] =
    "_lapis() {\n"
    "  local word=${COMP_WORDS[COMP_CWORD]} found\n"
    "  local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "  COMPREPLY=()\n"
    "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "    found=$_lapis_verbs\n"
    "  else\n"
    "    # --name=value is three words here\n"
    "    [ \"$word\" != = ] || { before=${COMP_WORDS[COMP_CWORD - 1]}; word=; "
    "}\n"
    "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    found=$(_lapis_candidates \"$before\" \"$word\" \"${COMP_WORDS[1]}\" "
    "\"${COMP_WORDS[@]:2:COMP_CWORD-2}\")\n"
    "  fi\n"
    "  case \" $found \" in *' :file '*)\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "  esac\n"
    "  mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(\n"
    "    compgen -W \"${found//:file/}\" -- \"$word\")\n"
    "}\n"
    "complete -F _lapis lapis\n";

static const char in_zsh[] =
    "_lapis() {\n"
    "  local found\n"
    "  if (( CURRENT == 2 )); then\n"
    "    compadd -- ${=_lapis_verbs}\n"
    "    return\n"
    "  fi\n"
    "  found=$(_lapis_candidates \"${words[CURRENT-1]}\" \"${words[CURRENT]}\" "
    "\"${words[2]}\" \"${(@)words[3,CURRENT-1]}\")\n"
    "  case \" $found \" in *' :file '*) _files ;; esac\n"
    "  compadd -- ${=${found//:file/}}\n"
    "}\n"
    "_lapis \"$@\"\n";

bool completion_of(FILE *to, verb_list *verb_at, const char *shell)
{
  bool bash = strcmp(shell, "bash") == 0, zsh = strcmp(shell, "zsh") == 0;
  if (!bash && !zsh) return false;
  fprintf(to, "%s of lapis %s; made by: lapis help --%s\n",
          bash ? "# bash completion" : "#compdef lapis\n# zsh completion",
          lapis_version(), shell);
  print_verbs(to, verb_at);
  print_options(to, verb_at);
  print_values(to, verb_at);
  fputs(candidates, to);
  fputs(bash ? in_bash : in_zsh, to);
  return true;
}
