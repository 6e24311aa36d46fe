function cases (names)
  % cases ({NAME, ...}): runs these tests; the file "passed" says all is well.
  failed = 0;
  warning ('off', 'all');
  for k = 1:numel (names)
    printf ("[ RUN      ] %s\n", names{k});
    try
      feval (names{k});
      printf ("[       OK ] %s\n", names{k});
    catch problem
      if (strcmp (problem.identifier, 'test:skip'))
        printf ("%s\n[  SKIPPED ] %s\n", problem.message, names{k});
      else
        printf ("%s\n[  FAILED  ] %s\n", problem.message, names{k});
        failed++;
      end
    end
    fflush (stdout);
  end
  if (failed == 0)
    fclose (fopen ('passed', 'w'));
  end
end

% ---- every fixture: what the command answers, to 1e-10 ----------------------
function test_mc_fixtures ()
  each_fixture ({'mc'}, @check_mc);
end

function check_mc (data, c, path)
  s = struct ('variant', c.model, 'labels', c.labels, 'mu', c.mu, ...
              'lambda', c.lam, 'gamma', c.gamma, 'tol', 1e-9);
  pairs = as_pairs (s);
  [labels, result, info] = lapis_mc (data.X, data.Y, pairs{:});
  same (result, command ('mc', path, s), labels);
  near (info.objective, c.objective, c.rtol_objective, 'objective');
end

% What the command answers, and candidates as text.
function test_auto ()
  rand ('state', 2);
  randn ('state', 2);
  yes = rand (60, 1) < 0.5;
  X = randn (60, 2) + 3 * [yes, yes];
  Y = double (yes);
  Y(1:2:end) = NaN;
  [labels, result] = lapis_auto (X, Y, 'candidates', 'linear,trees');
  if (mean (labels == yes) < 0.9 || rows (result.candidates) < 4)
    error ('%g are right, of %d candidates', mean (labels == yes), ...
           rows (result.candidates));
  end
end

% Persons of whom each has four rows, and numbers and classes by chance: of one
% whom folds hide whole nothing is told.
function test_groups_are_whole_in_folds ()
  person = kron ((1:24)', ones (4, 1));
  randn ('state', 1);
  centre = randn (24, 8);
  X = centre(person, :) + 0.05 * randn (96, 8);
  y = randn (24, 1)(person);
  [~, whole] = lapis_rr (X, y, 'group', person);
  [~, rows] = lapis_rr (X, y);
  if (max (whole.tried(:, 3)) > max (rows.tried(:, 3)) - 0.2)
    error ('R^2 is %g by persons, %g by rows', max (whole.tried(:, 3)), ...
           max (rows.tried(:, 3)));
  end
  [~, whole] = lapis_rlda (X, y > 0, 'group', person);
  [~, rows] = lapis_rlda (X, y > 0);
  if (max (whole.tried(:, 3)) > max (rows.tried(:, 3)) - 0.1)
    error ('right in %g by persons, %g by rows', max (whole.tried(:, 3)), ...
           max (rows.tried(:, 3)));
  end
  lapis_svmplus (X, y > 0, [], 'probability', true, 'group', person);
  refused (@() lapis_svmplus (X, y > 0, [], 'probability', true, ...
                              'group', ones (96, 1)), 'one group');
  refused (@() lapis_rr (X, y, 'group', person(2:end)), 'group has 95 rows');
end

% What a sparse X leaves out is unknown where that is said, in fit and predict.
function test_sparse_features ()
  [i, k] = ndgrid (1:12, 1:9);
  X = i .* (k + 1);
  seen = mod (i + 2 * k, 3) ~= 0;
  dense = X;
  dense(~ seen) = NaN;
  stored = sparse (X .* seen);
  model = tempname ();
  given = {'mu', 1e-3, 'tol', 1e-9};
  [labels, a, info] = lapis_mc (stored, [], given{:}, 'absent', 'missing', ...
                                'model', model);
  [~, b] = lapis_mc (dense, [], given{:});
  near (a.low_rank(:), b.low_rank(:), 1e-3, 'low_rank');
  near (a.low_rank(1, 1), X(1, 1), 0.05, 'a cell that was left out');
  if (~ isempty (labels) || info.gap > 1e-9)
    error ('labels without Y, or a gap');
  end
  [~, a] = lapis_predict (model, stored, 'tol', 1e-7);
  [~, b] = lapis_predict (model, dense, 'tol', 1e-7);
  unlink (model);
  near (a.low_rank(:), b.low_rank(:), 1e-12, 'predicted');
  [~, a] = lapis_mc (stored, [], given{:}); % left out: 0
  [~, b] = lapis_mc (full (stored), [], given{:});
  near (a.low_rank(:), b.low_rank(:), 1e-4, 'zeros');
end

function test_rr_fixtures ()
  each_fixture ({'rr_alm', 'rr_fixed_T'}, @check_rr);
end

function check_rr (data, c, path)
  s = struct ('eta', c.eta, 'lambda', c.lam);
  files = struct ('weight', [path '/data.npz:W']);
  given = struct ('weight', data.W);
  if (strcmp (c.kind, 'rr_fixed_T'))
    expected = lapis_read ([path '/expected.npz']);
    files.fix_weights = [path '/expected.npz:weights'];
    given.fix_weights = expected.weights;
  else
    s.gamma = c.gamma;
    s.rho = c.rho;
  end
  pairs = [as_pairs(s), as_pairs(given)];
  [weights, result, info] = lapis_rr (data.X, data.Y, pairs{:});
  options = [as_pairs(s), as_pairs(files)];
  same (result, command ('rr', path, struct (options{:})), []);
  if (strcmp (c.kind, 'rr_fixed_T'))
    near (info.objective, c.objective, c.rtol_objective, 'objective');
  end
end

function test_svmplus_fixtures ()
  each_fixture ({'svmplus_linear', 'svmplus_kernel', 'svmplus_original'}, ...
                @check_svmplus);
end

function check_svmplus (data, c, path)
  s = struct ('C', c.C, 'gamma', c.gamma, 'tol', 1e-9);
  if (~ strcmp (c.kind, 'svmplus_linear'))
    s.kernel = 'rbf';
    s.kernel_priv = 'rbf';
    s.width = 1 / c.rbf_gamma;
    s.width_priv = 1 / c.rbf_gamma_priv;
  end
  if (strcmp (c.kind, 'svmplus_original'))
    s.formulation = 'original';
  end
  pairs = as_pairs (s);
  model = tempname ();
  [scores, result] = lapis_svmplus (data.X, data.Y, data.P, pairs{:}, ...
                                    'model', model);
  same (result, command ('svmplus', path, s), []);
  [labels, answers] = lapis_predict (model, data.X_test);
  unlink (model);
  expected = lapis_read ([path '/expected.npz']);
  near (answers.scores(:), expected.decision(:), 1e-3, 'decision');
  if (any (sign (answers.scores) ~= labels))
    error ('labels are not the signs of the scores');
  end
end

function test_roml_fixtures ()
  each_fixture ({'roml'}, @check_roml);
end

function check_roml (data, c, path)
  s = struct ('inliers', c.inliers);
  [match, result] = lapis_roml (data.X, data.group, 'inliers', c.inliers);
  there = command ('roml', path, s);
  if (any (match(:) ~= there.match(:) + 1))
    error ('the matches differ');
  end
  images = numel (unique (data.group));
  if (any (size (match) ~= [images, c.inliers]))
    error ('match has the wrong shape');
  end
  % D = L + E is the matched rows of X, of unit length
  k = images;
  first = data.X(match(k, 1), :);
  sum_of = result.low_rank(k, 1, :) + result.sparse(k, 1, :);
  near (sum_of(:)', first / norm (first), 1e-5, 'low_rank + sparse');
end

function test_rpca_on_fixtures ()
  each_fixture ({'rr_alm'}, @check_rpca);
end

function check_rpca (data, c, path)
  s = struct ('lambda', c.lam, 'tol', 1e-7);
  pairs = as_pairs (s);
  [low_rank, result, info] = lapis_rpca (data.X, pairs{:});
  same (result, command ('rpca', path, s), []);
  near (low_rank(:), result.low_rank(:), 0, 'low_rank');
  if (~ (info.gap <= 1e-7))
    error ('the gap is %g', info.gap);
  end
end

% A weight of 0 is a label that is not known, a common factor says nothing.
function test_weights_of_labels ()
  [X, y] = two_classes ();
  weight = 1 + mod ((1:numel (y))', 3);
  [~, plain] = lapis_mc (X, y, 'mu_rel', 0.02);
  [~, one] = lapis_mc (X, y, 'mu_rel', 0.02, 'sample_weight', weight);
  [~, more] = lapis_mc (X, y, 'mu_rel', 0.02, 'sample_weight', 4 * weight);
  near (one.scores(:), more.scores(:), 0, 'scores');
  if (isequal (one.scores, plain.scores))
    error ('weights changed nothing');
  end
  known = y;
  known(1:3:end) = NaN;
  [~, without] = lapis_mc (X, known, 'mu_rel', 0.02);
  [~, none] = lapis_mc (X, y, 'mu_rel', 0.02, 'sample_weight', ...
                        double (~ isnan (known)));
  near (none.scores(:), without.scores(:), 0, 'scores');
  refused (@() lapis_mc (X, y, 'mu_rel', 0.02, 'sample_weight', -weight), ...
           'weight of sample 1');
end

function test_clean_takes_away_what_does_not_fit ()
  i = 0:11;
  known = cos (0.3 * [1; 2; 3] * i);
  clean = [1 0 0.5; 0 1 1] * known;
  X = clean;
  X(1, 5) = X(1, 5) + 3;
  X(2, 7) = NaN;
  [low_rank, result] = lapis_clean (X, known, 'weight', 1);
  near (low_rank(:), clean(:), 1e-3, 'low_rank');
  near (result.sparse(1, 5), 3, 1e-3, 'sparse');
  near (result.coefficients(:), [1 0 0.5; 0 1 1](:), 1e-3, 'coefficients');
end

function test_rlda_answers_what_is_asked ()
  [X, y] = two_classes ();
  given = y;
  given(1:4:end) = NaN;
  given(given < 0) = 7;
  X(3, 2) = NaN;
  [labels, result] = lapis_rlda (X, given, 'denoise', 'rpca');
  if (mean ((labels == 1) == (y > 0)) < 0.9 || any (~ ismember (labels, [1 7])))
    error ('labels are wrong');
  end
  if (columns (result.weights) ~= columns (X) + 1)
    error ('weights have the wrong shape');
  end
end

function test_misvm_finds_the_rows ()
  bag = ceil ((1:24)' / 3);
  y = 1 - 2 * mod (bag, 2);
  X = 0.2 * [sin(5 * (1:24)'), cos(3 * (1:24)')];
  special = y > 0 & mod ((1:24)', 3) == 2;
  X(special, 1) = X(special, 1) + 2;
  given = {'kernel', 'linear', 'C', 1};
  [labels, result] = lapis_misvm (X, y, bag, given{:});
  if (any ((labels > 0) ~= special) || numel (result.bags) ~= 8)
    error ('other rows were found');
  end
  % privileged features that say it all
  lapis_misvm (X, y, bag, given{:}, 'P', double (special));
end

% The numbers of "lapis cv", to the digit.
function test_cv_is_the_commands ()
  [X, y] = two_classes ();
  file = [tempname() '.csv'];
  f = fopen (file, 'w');
  fprintf (f, "a,b,c,d,y\n");
  fprintf (f, "%.17g,%.17g,%.17g,%.17g,%d\n", [X, y]');
  fclose (f);
  [status, said] = system (sprintf ("'%s' cv svmplus '%s' --target y --grid C=0.1,1,10 --grid kernel=linear,rbf --folds 4 --json 2>/dev/null", getenv ('LAPIS_COMMAND'), file));
  unlink (file);
  there = jsondecode (said);
  [best, points] = lapis_cv ('svmplus', struct ('X', X, 'Y', y), ...
                             'C', [0.1 1 10], 'kernel', {'linear', 'rbf'}, ...
                             'folds', 4);
  if (status ~= 0 || numel (points) ~= 6)
    error ('%d points', numel (points));
  end
  near ([points.mean]', [there.points.mean]', 1e-12, 'means');
  near (best.mean, there.best.mean, 1e-12, 'best');
  near (best.C, str2double (num2str (there.best.settings.C)), 0, 'best C');
  if (~ strcmp (best.kernel, there.best.settings.kernel))
    error ('another kernel');
  end
end

% A key, as Ctrl-C sends it, ends the solve and nothing else.
function test_an_interrupt_ends_the_solve ()
  X = sin (1e4 * sin ((1:1200)' * (1:1000))); % minutes of work
  system (sprintf ('(sleep 2; kill -INT %d) >/dev/null 2>&1 &', getpid ()));
  refused (@() lapis_rpca (X, 'tol', 0, 'max_iters', 1e9, 'threads', 1), ...
           'rpca: stopped by Ctrl-C');
  lapis_rpca (X(1:20, 1:10)); % the next one is not cancelled
end

% ---- the manual -------------------------------------------------------------
function test_the_page_runs ()
  here = fileparts (mfilename ('fullpath'));
  page = fileread ([here '/../../docs/octave.md']);
  blocks = regexp (page, "```octave\n(.*?)```", 'tokens');
  if (isempty (blocks))
    error ('the page shows nothing');
  end
  for k = 1:numel (blocks)
    eval (blocks{k}{1});
  end
end

% ---- what a caller does wrong -----------------------------------------------
function test_refusals ()
  X = magic (4);
  y = [1; -1; 1; -1];
  refused (@() lapis_mc (X, y, 'lambda', -1), 'lambda is -1');
  refused (@() lapis_mc (X, y, 'lamda', 1), 'there is no lamda');
  refused (@() lapis_mc (X, y, 'lambda'), 'pairs of a name and a value');
  refused (@() lapis_mc (X, y(1:3)), 'Y has 3 rows, X has 4');
  refused (@() lapis_mc (X, y'), 'Y is a row');
  refused (@() lapis_mc ('abc', y), 'X is of class char');
  refused (@() lapis_rr (X, {1}), 'Y is of class cell');
  refused (@() lapis_rpca (X + 1i), 'X is complex');
  refused (@() lapis_svmplus (X, y, ones (3, 1)), 'P has 3 rows');
  refused (@() lapis_svmplus (X, y), 'too few arguments: lapis_svmplus (X, Y, P');
  refused (@() lapis_clean (X, ones (2, 3)), 'dictionary has 3 columns');
  refused (@() lapis_misvm (X, y, [1 1 2]'), 'group has 3 rows');
  refused (@() lapis_rlda (X), 'too few arguments: lapis_rlda');
  refused (@() lapis_cv ('mc', X), 'DATA is a struct');
  refused (@() lapis_cv ('mc', struct ('X', X, 'Y', y(1:3)), 'mu', [1 2]), ...
           'Y has 3 rows');
  refused (@() lapis_cv ('nc', struct ('X', X), 'mu', [1 2]), 'no such method; there are');
  refused (@() lapis_svmplus (X * NaN, y, []), 'X is NaN at sample 1, feature 1');
  refused (@() lapis_roml (X, [1; 2]), 'group');
  refused (@() lapis_predict ('no-such-file', X), 'no-such-file');
  refused (@() lapis_read ('no-such-file'), 'no-such-file');
  refused (@() lapis_mc (X, y, 'lambda', [.1 .2]), 'lambda is 1 x 2');
  refused (@() lapis_mc (X, y, 'tol', []), 'tol is 0 x 0');
  refused (@() lapis_mc (X, y, 'mu', 1i), 'mu is complex, 1 x 1');
  refused (@() lapis_mc (X, y, 'mu', {1}), 'mu is of class cell');
  refused (@() lapis_mc (X, y, 'threads', [1 2]), 'threads is 1 x 2');
  refused (@() lapis_roml (X, [1; NaN; 2; 2]), 'group: NaN at row 2');
  refused (@() lapis_roml (X, [1; 1; 2.5; 2]), 'group: 2.5 at row 3');
  refused (@() lapis_roml (X, [1; 1; 2; Inf]), 'group: inf at row 4');
  refused (@() lapis_mex ('solve', 'svm', struct (), struct ()), ...
           'no such method; there are');
  refused (@() lapis_mex ('solve'), 'lapis_mc');
end

function test_warnings_are_the_librarys ()
  warning ('on', 'lapis:stopped');
  lapis_rr (rand (20, 3), rand (20, 1), 'max_iters', 2);
  [text, id] = lastwarn ();
  warning ('off', 'all');
  if (isempty (strfind (text, 'max-iters')) || ~ strcmp (id, 'lapis:stopped'))
    error ('the warning is "%s" (%s)', text, id);
  end
end

% What a method remarks is what the command says, but for how settings are spelt.
function test_notes_are_the_commands ()
  k = (1:60)';
  X = [sin(3.1 * k), 1000 * cos(2.3 * k)];
  noise = sin (77.7 * k .^ 2);
  noise(51:60) = NaN;
  gaps = X;
  gaps(1:5:60, 1) = NaN;
  codes = mod (k, 2);
  codes(9) = 3;
  runs = {'svmplus', X, mod(k, 15) == 4, 'never-predicted', {};
          'svmplus', X, mod(k, 15) == 4, 'stopped', {'max_iters', 1};
          'rr', X, noise, 'rows-used', {};
          'rlda', X, codes, 'rare-class', {};
          'mc', gaps, mod(k, 2), 'units-differ', {'mu_rel', 0.5};
          'rpca', gaps, [], 'units-differ', {}};
  for r = 1:rows (runs)
    [method, X, Y, name, given] = runs{r, :};
    said = notes_of_command (method, X, double (Y), given);
    here = lapis_mex ('solve', method, struct ('X', X, 'Y', double (Y)), ...
                      struct (given{:})).notes;
    if (rows (here) ~= numel (said) || ~ any (strcmp (here(:, 2), name)))
      error ('%s: %d remarks, %d there', method, rows (here), numel (said));
    end
    for n = 1:numel (said)
      same = strcmp (unspelt (here{n, 3}), unspelt (said(n).text)) ...
             && strcmp (here{n, 1}, said(n).level) ...
             && strcmp (here{n, 2}, said(n).name);
      if (~ same || ~ isempty (strfind (here{n, 3}, '--')))
        error ('"%s" there, "%s" here', said(n).text, here{n, 3});
      end
    end
  end
end

% Letters and digits alone: --mu-rel .1 and mu_rel=.1 are one.
function text = unspelt (text)
  text = regexprep (text, '[^A-Za-z0-9.]', '');
  text = strrep (text, 'mapstandard', ''); % the command's way to do it
end

function notes = notes_of_command (method, X, Y, given)
  files = {'X', X};
  if (~ isempty (Y))
    files(end + 1, :) = {'Y', Y};
  end
  words = '';
  for k = 1:rows (files)
    path{k} = [tempname() '.csv'];
    dlmwrite (path{k}, files{k, 2}, 'precision', '%.17g');
    words = [words ' -' files{k, 1} ' ' path{k}];
  end
  for k = 1:2:numel (given)
    words = [words sprintf(' --%s %g', strrep (given{k}, '_', '-'), given{k + 1})];
  end
  [status, said] = system (sprintf ("'%s' fit %s%s --header no --json 2>/dev/null", ...
                                    getenv ('LAPIS_COMMAND'), method, words));
  cellfun (@unlink, path, 'UniformOutput', false);
  if (status ~= 0)
    error ('the command failed: %s', said);
  end
  notes = jsondecode (said).notes;
end

function [X, y] = two_classes ()
  k = (1:60)';
  y = sign (sin (1.7 * k));
  X = [sin(3.1 * k), cos(2.3 * k), sin(5.7 * k), cos(7.9 * k)] + 0.9 * y;
end

% ---- helpers ----------------------------------------------------------------
function each_fixture (kinds, check)
  folder = getenv ('LAPIS_FIXTURES');
  if (isempty (folder)) % then those of the tree
    here = fileparts (mfilename ('fullpath'));
    folder = fullfile (here, '..', '..', 'tests', 'fixtures');
  end
  found = glob ([folder '/*/case.json']);
  count = 0;
  for k = 1:numel (found)
    c = jsondecode (fileread (found{k}));
    path = fileparts (found{k});
    if (any (strcmp (c.kind, kinds)))
      check (lapis_read ([path '/data.npz']), c, path);
      count++;
    end
  end
  if (count == 0)
    error ('no fixture of these kinds');
  end
end

function pairs = as_pairs (s)
  names = fieldnames (s);
  pairs = cell (1, 2 * numel (names));
  pairs(1:2:end) = names;
  pairs(2:2:end) = struct2cell (s);
end

function arrays = command (method, path, s)
  % What "lapis fit METHOD" writes with these settings.
  words = '';
  names = fieldnames (s);
  for k = 1:numel (names)
    value = s.(names{k});
    if (~ ischar (value))
      value = sprintf ('%.17g', value);
    end
    words = [words sprintf(" --%s '%s'", strrep (names{k}, '_', '-'), value)];
  end
  out = [tempname() '.npz'];
  line = sprintf ("'%s' fit %s '%s/data.npz' -q -o '%s'%s", ...
                  getenv ('LAPIS_COMMAND'), method, path, out, words);
  [status, said] = system (line);
  if (status ~= 0)
    error ('the command failed: %s', said);
  end
  arrays = lapis_read (out);
  unlink (out);
end

function same (here, there, labels)
  % Every array of numbers that the command wrote, to 1e-10 of its largest.
  names = fieldnames (there);
  for k = 1:numel (names)
    if (isnumeric (there.(names{k})) && ~ strcmp (names{k}, 'history'))
      near (here.(names{k})(:), there.(names{k})(:), 1e-10, names{k});
    end
  end
  if (~ isempty (labels) && any (labels(:) ~= there.labels(:)))
    error ('the labels differ');
  end
end

function near (a, b, tolerance, what)
  if (any (size (a) ~= size (b)))
    error ('%s: the shapes differ', what);
  end
  if (any (isnan (a) ~= isnan (b)))
    error ('%s: NaN stands in other places', what);
  end
  off = max (abs (a - b)) / max (max (abs (b)), 1e-300);
  if (~ (off <= tolerance))
    error ('%s is off by %g', what, off);
  end
end

function refused (call, words)
  try
    call ();
  catch problem
    if (isempty (strfind (problem.message, words)))
      error ('"%s" lacks "%s"', problem.message, words);
    end
    return
  end
  error ('not refused: %s', words);
end
