/* examples.c - a command or two for every page of help;
 * tests/command/words/examples.c runs them in this order.  At most 73 letters:
 * a manual page of 80 columns moves them in by 7. */
#include <string.h>

#include "option_rows.h"

enum { MOST_LINES = 2 };

/* people.csv: a person a row; who is tall is known of some.  photos: a folder;
 * labels.csv: a label for some of its images. */
static const struct {
  const char *page; /* verb, method or kind of features */
  const char *line[MOST_LINES];
} examples[] = {
    {"fit",
     {"lapis fit auto people.csv --id name --target tall --model tall.lapis",
      "lapis fit mc people.csv --id name --target tall --mu-rel .1 -o "
      "out.npz"}},
    {"auto", {"lapis fit auto people.csv --id name --target tall -o tall.csv"}},
    {"mc", {"lapis fit mc people.csv --id name --target tall -o filled.npz"}},
    {"rr",
     {"lapis fit rr people.csv --id name --target weight --use height,reach"}},
    {"rlda",
     {"lapis fit rlda people.csv --id name --target tall --use height,weight"}},
    {"rpca",
     {"lapis fit rpca people.csv --id name --use height,reach -o parts.npz"}},
    {"linear",
     {"lapis fit linear people.csv --id name --target tall --map standard"}},
    {"trees", {"lapis fit trees people.csv --id name --target tall"}},
    {"svmplus",
     {"lapis convert people.csv w.npz --id name --use weight",
      "lapis fit svmplus people.csv --id 1 --target tall --use height "
      "-P w.npz:X"}},
    {"misvm",
     {"lapis fit misvm players.csv --id name -G teams.csv --target wins"}},
    {"pixels", {"lapis features pixels photos --size 8x8 -o pixels.npz"}},
    {"clean",
     {"lapis fit clean pixels.npz --dictionary pixels.npz:X -o clean.npz"}},
    {"color-moments", {"lapis features color-moments photos -o moments.npz"}},
    {"luv-histogram", {"lapis features luv-histogram photos -o colours.npz"}},
    {"hog", {"lapis features hog photos -o hog.npz"}},
    {"gist", {"lapis features gist photos -o gist.npz"}},
    {"sift-bow",
     {"lapis features sift-bow photos --save-vocabulary words.npz "
      "-o bow.npz",
      "lapis features sift-bow more --vocabulary words.npz -o more.npz"}},
    {"dense-sift-bow",
     {"lapis features dense-sift-bow photos --words 50 --learn 5000 "
      "-o dense.npz"}},
    {"texton-bow", {"lapis features texton-bow photos -o textons.npz"}},
    {"sift", {"lapis features sift photos --most 40 -o points.npz"}},
    {"roml", {"lapis fit roml points.npz --inliers 5 -o tracks.npz"}},
    {"gist-boxes", {"lapis features gist-boxes more -o boxes.npz"}},
    {"onnx", {"lapis features onnx:net.onnx photos -o onnx.npz"}},
    {"onnx-map",
     {"lapis features onnx-map:net.onnx photos --layer map -o map.npz"}},
    {"onnx-boxes",
     {"lapis features onnx-boxes:net.onnx more --candidates 20 -o seen.npz"}},
    {"predict",
     {"lapis predict tall.lapis new.csv --id name",
      "lapis predict tall.lapis new.csv --id name --scores -o answers.npz"}},
    {"cv",
     {"lapis cv mc people.csv --id name --target tall "
      "--grid mu-rel=.02,.1,.5"}},
    {"eval",
     {"lapis eval auroc --truth truth.csv --id name --scores answers.npz"}},
    {"features",
     {"lapis features hog photos -o hog.npz",
      "lapis features gist,color-moments photos -o both.npz"}},
    {"label", {"lapis label photos --labels labels.csv -o page.html"}},
    {"locate", {"lapis locate more --candidates 20 -o boxes.html"}},
    {"match", {"lapis match more --inliers 5 -o points.html"}},
    {"assign",
     {"lapis convert costs.csv costs.npz --header no",
      "lapis assign costs.npz"}},
    {"convert",
     {"lapis convert people.csv people.npz --id name --target tall"}},
    {"report",
     {"lapis fit mc people.csv --id name --target tall -o filled.npz",
      "lapis report filled.npz -o page.html"}},
    {"info", {"lapis info people.csv", "lapis info tall.lapis"}},
    {"formats", {"lapis formats"}},
    {"demo", {"lapis demo"}},
};

const char *example_of(const char *page, int i)
{
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
    if (strcmp(examples[k].page, page) == 0)
      return i < MOST_LINES ? examples[k].line[i] : NULL;
  return NULL;
}
