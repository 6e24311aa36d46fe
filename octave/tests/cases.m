function cases (names)
  % cases ({NAME, ...}): runs these tests; the file "passed" says all is well.
  failed = 0;
  warning ('off', 'lapis:warning');
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
  refused (@() lapis_mc (X, y, 'lambda', -1), '--lambda is -1');
  refused (@() lapis_mc (X, y, 'lamda', 1), 'there is no --lamda');
  refused (@() lapis_mc (X, y, 'lambda'), 'pairs of a name and a value');
  refused (@() lapis_mc (X, y(1:3)), 'samples');
  refused (@() lapis_svmplus (X * NaN, y, []), 'X is NaN at row 1, column 1');
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
  refused (@() lapis_mex ('solve', 'svm', struct (), struct ()), 'no such');
  refused (@() lapis_mex ('solve'), 'lapis_mc');
end

function test_warnings_are_the_librarys ()
  warning ('on', 'lapis:warning');
  lapis_rr (rand (20, 3), rand (20, 1), 'max_iters', 2);
  [text, id] = lastwarn ();
  warning ('off', 'lapis:warning');
  if (isempty (strfind (text, 'max-iters')) || ~ strcmp (id, 'lapis:warning'))
    error ('the warning is "%s" (%s)', text, id);
  end
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
