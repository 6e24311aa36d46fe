function [match, result, info] = lapis_roml (X, group, varargin)
  % [match, result, info] = lapis_roml (X, group, NAME, VALUE, ...)
  %
  % Matching objects in a set of images [ROML16]: X (points x d) holds the
  % features of all images, group (points x 1) says whose image each is.
  %
  % match   images x inliers: rows of X, a column a point of the object; 0
  %         where it is absent
  % info    status, iterations, objective, residual, seconds, ...
  % result  has these fields:
  %  match               images x inliers: rows of X, a column a slot of the
  %                      object, in the order of the first image's rows;
  %                      robust: -1 where it is absent
  %  inlier              images x inliers: 0 where a slot of an image is in
  %                      doubt: hidden, or its feature spoilt
  %  instance            inliers: whose slot it is, from 1
  %  low_rank            images x inliers x features: L, the features of each
  %                      slot; of points as they were moved
  %  sparse              images x inliers x features: E, likewise
  %  transform           images x 2 x 3, with --layout coordinates, where X
  %                      holds points of a plane: how each image was moved: a
  %                      point x to [:, :2] x + [:, 2]
  %  invariance          1, with --layout coordinates, where X holds points of
  %                      a plane: the kind of it, given or chosen
  %  gamma_n             tried, where inliers are estimated: the measure of
  %                      each number of inliers that was tried
  %  chance              sets, where instances are counted: |D|_* of each set
  %                      over that of unrelated images
  %  history             checks x columns: the course of the solve
  %  history_columns     columns: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
  %
  % Settings are those of "lapis fit roml --help", with _ for -; 'start' also
  % takes a match.  'xy', POSITIONS (points x 2) goes with 'map', 'embed'.
  settings = lapis_struct (varargin);
  lapis_needs (nargin, 2, 'lapis_roml (X, group, ...)');
  data = struct ('X', lapis_full (X, 'X'), ...
                 'group', lapis_full (group, 'group', rows (X)));
  if (isfield (settings, 'xy'))
    data.xy = lapis_full (settings.xy, 'xy', rows (X));
    settings = rmfield (settings, 'xy');
  end
  [result, info] = lapis_mex ('solve', 'roml', data, settings);
  match = result.match;
  for name = {'low_rank', 'sparse'}
    [images, slots] = size (match);
    blocks = reshape (result.(name{1}), images, [], slots);
    result.(name{1}) = permute (blocks, [1, 3, 2]);
  end
end
